import { addStyles } from '../dom/add-styles.ts'
import { themeVariables } from '../video/theme.ts'
import type { VideoRecord } from '../video/video-record.ts'
import type { PlayerShell } from './player-shell.ts'
import styles from './theme.css?inline'

/**
 * Applies the colours and buttons of a video and its settings profile to the player, until the
 * signal aborts.
 */
export function applyTheme(shell: PlayerShell, record: VideoRecord, toMediaUrl: (media: string) => string, signal: AbortSignal): void {
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
    ...(settings.sharing && record.shareAddress !== '' ? [createShareButton(shell, record.shareAddress)] : []),
    ...(record.downloadLink === '' ? [] : [createDownloadLink(toMediaUrl(record.downloadLink))]),
  ]
  frame.querySelector('[data-does=fullscreen]')?.before(...buttons)
  const removeButtons = () => {
    for (const button of buttons) button.remove()
  }
  signal.addEventListener('abort', removeButtons, { once: true })
}

const shareIconPath = 'M12 3l5 5-1.4 1.4-2.6-2.6V15h-2V6.8L8.4 9.4 7 8zM5 12h2v7h10v-7h2v9H5z'
const downloadIconPath = 'M11 4h2v8.2l2.6-2.6L17 11l-5 5-5-5 1.4-1.4 2.6 2.6zM5 18h14v2H5z'

function createShareButton(shell: PlayerShell, link: string): HTMLElement {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'share'
  button.setAttribute('aria-label', 'Copy the link')
  button.title = 'Copy the link'
  button.append(createIcon(shareIconPath))
  button.addEventListener('click', () => {
    const copying = navigator.clipboard?.writeText(link) ?? Promise.reject(new Error('no clipboard'))
    // Without access to the clipboard, the link is shown for manual copying.
    copying.then(() => shell.showBadge('Link copied')).catch(() => shell.showBadge(link))
    window.setTimeout(() => shell.showBadge(''), 4_000)
  })
  return button
}

function createDownloadLink(file: string): HTMLElement {
  const link = document.createElement('a')
  link.className = 'download'
  link.href = file
  link.download = ''
  link.setAttribute('aria-label', 'Download')
  link.title = 'Download'
  link.append(createIcon(downloadIconPath))
  return link
}

function createIcon(path: string): SVGElement {
  const namespace = 'http://www.w3.org/2000/svg'
  const svg = document.createElementNS(namespace, 'svg')
  svg.setAttribute('viewBox', '0 0 24 24')
  const shape = document.createElementNS(namespace, 'path')
  shape.setAttribute('d', path)
  svg.append(shape)
  return svg
}
