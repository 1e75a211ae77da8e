import type { PlayerActions } from './player-keys.ts'

/** Milliseconds that a click on the picture waits for a second one. */
const doubleClickWithin = 250

/**
 * Clicks on the picture: one plays or pauses, two go to full screen and leave the video as it was. A touch has no pointer to move before it:
 * while the controls are away, the first one only brings them back.
 */
export function wirePointers(frame: HTMLElement, video: HTMLVideoElement, actions: PlayerActions, signal: AbortSignal): void {
  let byTouch = false
  let onlyWakes = false
  let timer: number | undefined
  const begin = ({ pointerType }: PointerEvent) => {
    byTouch = pointerType === 'touch'
    onlyWakes = byTouch && controlsAreAway(frame)
  }
  // Before anything else: the finger may be where a button has just come back.
  const swallow = (event: MouseEvent) => {
    const [target] = event.composedPath()
    const isCard = target instanceof Element && target.closest('.overlay') !== null
    if (!onlyWakes || isCard || event.detail === 0) return
    event.preventDefault()
    event.stopPropagation()
  }
  const click = ({ detail }: MouseEvent) => {
    if (byTouch) return actions.play()
    if (detail > 1) return
    timer = window.setTimeout(() => {
      timer = undefined
      actions.play()
    }, doubleClickWithin)
  }
  const doubleClick = () => {
    if (byTouch) return
    // A slow second click: the first one has played or paused already.
    if (timer === undefined) actions.play()
    clearTimeout(timer)
    timer = undefined
    actions.fullscreen()
  }
  frame.addEventListener('pointerdown', begin, { signal, capture: true })
  frame.addEventListener('click', swallow, { signal, capture: true })
  video.addEventListener('click', click, { signal })
  video.addEventListener('dblclick', doubleClick, { signal })
  signal.addEventListener('abort', () => clearTimeout(timer))
}

function controlsAreAway({ dataset }: HTMLElement): boolean {
  const mayGo = dataset['controls'] !== 'false' && dataset['autohide'] !== 'false'
  return mayGo && dataset['idle'] === 'true' && dataset['playing'] === 'true'
}
