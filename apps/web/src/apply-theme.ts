import { addStyles } from './add-styles.ts'
import type { PlayerShell } from './player-shell.ts'
import styles from './theme.css?inline'
import { themeVariables } from './theme.ts'
import type { VideoRecord } from './video-record.ts'

/**
 * Applies the colours and buttons of a video and its settings profile to the player, until the
 * signal aborts.
 */
export function applyTheme(shell: PlayerShell, record: VideoRecord, address: (media: string) => string, signal: AbortSignal): void {
  const { frame, video } = shell
  const { settings } = record
  addStyles(frame, 'theme', styles)
  frame.dataset['titleBar'] = String(settings.titleBar)
  frame.dataset['controls'] = String(settings.controls)
  frame.dataset['autohide'] = String(settings.autohide)
  for (const variable of themeVariables) frame.style.setProperty(variable, record.theme[variable] ?? null)
  video.lang = record.language
  const title = frame.querySelector<HTMLElement>('.title')
  if (title) title.lang = record.language
  const buttons = [
    ...(settings.sharing && record.shareAddress !== '' ? [shareButton(shell, record.shareAddress)] : []),
    ...(record.downloadLink === '' ? [] : [downloadLink(address(record.downloadLink))]),
  ]
  frame.querySelector('[data-does=fullscreen]')?.before(...buttons)
  const leave = () => {
    for (const button of buttons) button.remove()
  }
  signal.addEventListener('abort', leave, { once: true })
}

const arrowOut = 'M12 3l5 5-1.4 1.4-2.6-2.6V15h-2V6.8L8.4 9.4 7 8zM5 12h2v7h10v-7h2v9H5z'
const arrowDown = 'M11 4h2v8.2l2.6-2.6L17 11l-5 5-5-5 1.4-1.4 2.6 2.6zM5 18h14v2H5z'

function shareButton(shell: PlayerShell, link: string): HTMLElement {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'share'
  button.setAttribute('aria-label', 'Copy the link')
  button.title = 'Copy the link'
  button.append(icon(arrowOut))
  button.addEventListener('click', () => {
    const copied = navigator.clipboard?.writeText(link) ?? Promise.reject(new Error('no clipboard'))
    // Without access to the clipboard, the link is shown for manual copying.
    copied.then(() => shell.badge('Link copied')).catch(() => shell.badge(link))
    window.setTimeout(() => shell.badge(''), 4_000)
  })
  return button
}

function downloadLink(file: string): HTMLElement {
  const link = document.createElement('a')
  link.className = 'download'
  link.href = file
  link.download = ''
  link.setAttribute('aria-label', 'Download')
  link.title = 'Download'
  link.append(icon(arrowDown))
  return link
}

function icon(path: string): SVGElement {
  const names = 'http://www.w3.org/2000/svg'
  const svg = document.createElementNS(names, 'svg')
  svg.setAttribute('viewBox', '0 0 24 24')
  const shape = document.createElementNS(names, 'path')
  shape.setAttribute('d', path)
  svg.append(shape)
  return svg
}
