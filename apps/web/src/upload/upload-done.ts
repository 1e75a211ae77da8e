import type { PageState } from '../page-state.ts'
import { part } from '../player-shell.ts'
import { VitascopePlayer } from '../vitascope-player.ts'

/**
 * Shows the video of the upload as soon as its first seconds can be played. Resolves when the user
 * wants to upload another file.
 */
export function showUploadedVideo(videoId: string, title: string): Promise<void> {
  const view = part(document, '.finished', HTMLElement)
  const bar = part(view, 'progress', HTMLProgressElement)
  const phase = part(view, '.phase', HTMLElement)
  const another = part(view, '.another', HTMLButtonElement)
  part(view, 'h2', HTMLElement).textContent = title
  part(view, 'a', HTMLAnchorElement).href = `/player/${videoId}`
  bar.hidden = false
  bar.value = 0
  phase.textContent = 'Waiting to be encoded …'

  const player = new VitascopePlayer()
  player.videoId = videoId
  // Autoplay shows the result at once. It is muted until the user clicks.
  player.autoplay = true
  player.muted = true
  player.onState = (state) => {
    const { text, percent } = progressOf(state)
    if (phase.textContent !== text) phase.textContent = text
    bar.hidden = percent === undefined
    bar.value = percent ?? 0
  }
  part(view, '.player', HTMLElement).replaceChildren(player)
  return new Promise((resolve) => {
    const leave = () => {
      player.remove()
      resolve()
    }
    another.addEventListener('click', leave, { once: true })
  })
}

/** The text changes once per phase only. The bar shows the percentage. */
function progressOf(state: PageState): { text: string; percent?: number } {
  if (state.kind === 'message') return { text: state.canRetry ? state.detail : `${state.heading}. ${state.detail}` }
  const { progress } = state.record
  if (state.kind === 'encoding') return { text: 'Encoding', percent: progress }
  return state.encoding
    ? { text: 'Encoding. The encoded part can be watched already.', percent: progress }
    : { text: 'Encoded. It is ready.' }
}
