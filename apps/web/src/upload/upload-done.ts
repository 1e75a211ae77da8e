import { requireElement } from '../dom/require-element.ts'
import { VitascopePlayer } from '../player/vitascope-player.ts'
import type { PageState } from '../video/page-state.ts'

/**
 * Shows the video of the upload as soon as its first seconds can be played. Resolves when the user
 * wants to upload another file.
 */
export function showUploadedVideo(videoId: string, title: string): Promise<void> {
  const section = requireElement(document, '.finished', HTMLElement)
  const bar = requireElement(section, 'progress', HTMLProgressElement)
  const phase = requireElement(section, '.phase', HTMLElement)
  const anotherButton = requireElement(section, '.another', HTMLButtonElement)
  requireElement(section, 'h2', HTMLElement).textContent = title
  requireElement(section, 'a', HTMLAnchorElement).href = `/player/${videoId}`
  bar.hidden = false
  bar.value = 0
  phase.textContent = 'Waiting to be encoded …'

  const player = new VitascopePlayer()
  player.videoId = videoId
  // Autoplay shows the result at once. It is muted until the user clicks.
  player.autoplay = true
  player.muted = true
  player.onState = (state) => {
    const { text, percent } = toProgress(state)
    if (phase.textContent !== text) phase.textContent = text
    bar.hidden = percent === undefined
    bar.value = percent ?? 0
  }
  requireElement(section, '.player', HTMLElement).replaceChildren(player)
  return new Promise((resolve) => {
    const close = () => {
      player.remove()
      resolve()
    }
    anotherButton.addEventListener('click', close, { once: true })
  })
}

/** Returns the text and the percentage of a state. The text changes only once per phase. */
function toProgress(state: PageState): { text: string; percent?: number } {
  if (state.kind === 'message') return { text: state.canRetry ? state.detail : `${state.heading}. ${state.detail}` }
  const { progress } = state.record
  if (state.kind === 'encoding') return { text: 'Encoding', percent: progress }
  return state.isEncoding
    ? { text: 'Encoding. The encoded part can be watched already.', percent: progress }
    : { text: 'Encoded. It is ready.' }
}
