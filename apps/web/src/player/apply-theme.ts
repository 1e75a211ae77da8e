import { createIcon } from '../dom/icons.ts'
import { text } from '../language/text.ts'
import { themeVariables } from '../video/theme.ts'
import type { VideoRecord } from '../video/video-record.ts'
import type { PlayerShell } from './player-shell.ts'

/**
 * Applies the colours and buttons of a video and its settings profile to the player, until the
 * signal aborts.
 */
export function applyTheme(shell: PlayerShell, record: VideoRecord, toMediaUrl: (media: string) => string, signal: AbortSignal): void {
  const { frame, controller, video } = shell
  const { settings } = record
  frame.dataset['titleBar'] = String(settings.titleBar)
  frame.dataset['controls'] = String(settings.controls)
  controller.setAttribute('autohide', settings.autohide ? AUTOHIDE_SECONDS : '-1')
  for (const variable of themeVariables) frame.style.setProperty(variable, record.theme[variable] ?? null)
  video.lang = record.language
  const title = frame.querySelector<HTMLElement>('.title')
  if (title) title.lang = record.language
  for (const button of frame.querySelectorAll('.row .share, .row .download')) button.remove()
  const buttons = [
    ...(settings.sharing && record.shareAddress !== '' ? [createShareButton(shell, record.shareAddress)] : []),
    ...(record.downloadLink === '' ? [] : [createDownloadLink(() => toMediaUrl(record.downloadLink))]),
  ]
  frame.querySelector('.row .captions')?.before(...buttons)
  const removeButtons = () => {
    for (const button of buttons) button.remove()
  }
  signal.addEventListener('abort', removeButtons, { once: true })
}

/** Seconds without activity after which the controls of a playing video are hidden. */
const AUTOHIDE_SECONDS = '3'

function createShareButton(shell: PlayerShell, link: string): HTMLElement {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'tool share'
  button.setAttribute('aria-label', text('copyLink'))
  button.title = text('copyLink')
  button.append(createIcon('share'))
  button.addEventListener('click', () => {
    const copying = navigator.clipboard?.writeText(link) ?? Promise.reject(new Error('no clipboard'))
    // Without access to the clipboard, the link is shown for manual copying.
    copying.then(() => shell.showBadge(text('linkCopied'))).catch(() => shell.showBadge(link))
    window.setTimeout(() => shell.showBadge(''), 4_000)
  })
  return button
}

function createDownloadLink(toFileUrl: () => string): HTMLElement {
  const link = document.createElement('a')
  link.className = 'tool download'
  // The token of the viewer may have been renewed since the link was created.
  const setTarget = () => {
    link.href = toFileUrl()
  }
  for (const event of ['pointerdown', 'click']) link.addEventListener(event, setTarget)
  setTarget()
  link.download = ''
  link.setAttribute('aria-label', text('download'))
  link.title = text('download')
  link.append(createIcon('download'))
  return link
}
