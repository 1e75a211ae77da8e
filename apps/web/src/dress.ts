import styles from './dress.css?inline'
import type { Stage } from './stage.ts'
import { addStyles } from './stage-extras.ts'
import { themeVariables } from './theme.ts'
import type { VideoRecord } from './video-record.ts'

/** Gives the stage the looks and buttons that a video and its profile ask for, until the signal aborts. */
export function dress(stage: Stage, record: VideoRecord, address: (media: string) => string, signal: AbortSignal): void {
  const { frame, video } = stage
  const { settings } = record
  addStyles(frame, 'dress', styles)
  frame.dataset['titleBar'] = String(settings.titleBar)
  frame.dataset['controls'] = String(settings.controls)
  frame.dataset['autohide'] = String(settings.autohide)
  for (const variable of themeVariables) frame.style.setProperty(variable, record.theme[variable] ?? null)
  video.lang = record.language
  const title = frame.querySelector<HTMLElement>('.title')
  if (title) title.lang = record.language
  const buttons = [
    ...(settings.sharing && record.shareAddress !== '' ? [shareButton(stage, record.shareAddress)] : []),
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

function shareButton(stage: Stage, link: string): HTMLElement {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'share'
  button.setAttribute('aria-label', 'Copy the link')
  button.title = 'Copy the link'
  button.append(icon(arrowOut))
  button.addEventListener('click', () => {
    const said = navigator.clipboard?.writeText(link) ?? Promise.reject(new Error('no clipboard'))
    // Where the page may not write there, the link can still be taken by hand.
    said.then(() => stage.badge('Link copied')).catch(() => stage.badge(link))
    window.setTimeout(() => stage.badge(''), 4_000)
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
