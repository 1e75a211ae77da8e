import type { PlayerActions } from './player-keys.ts'

/** Milliseconds that a click on the picture waits for a second click. */
const DOUBLE_CLICK_MS = 250

/**
 * Handles clicks on the picture. One click plays or pauses. A double click toggles full screen and
 * does not change playback. While the controls are hidden, the first touch only shows them, because
 * touch screens have no hover.
 */
export function wirePointers(frame: HTMLElement, video: HTMLVideoElement, actions: PlayerActions, signal: AbortSignal): void {
  let isTouch = false
  let onlyShowsControls = false
  let timer: number | undefined
  const onPointerDown = ({ pointerType }: PointerEvent) => {
    isTouch = pointerType === 'touch'
    onlyShowsControls = isTouch && areControlsHidden(frame)
  }
  // Registered in the capture phase: a button may have appeared under the finger.
  const suppressClick = (event: MouseEvent) => {
    const [target] = event.composedPath()
    const isCard = target instanceof Element && target.closest('.overlay') !== null
    if (!onlyShowsControls || isCard || event.detail === 0) return
    event.preventDefault()
    event.stopPropagation()
  }
  const onClick = ({ detail }: MouseEvent) => {
    if (isTouch) return actions.play()
    if (detail > 1) return
    timer = window.setTimeout(() => {
      timer = undefined
      actions.play()
    }, DOUBLE_CLICK_MS)
  }
  const onDoubleClick = () => {
    if (isTouch) return
    // If the second click is slow, the first one has played or paused already.
    if (timer === undefined) actions.play()
    clearTimeout(timer)
    timer = undefined
    actions.fullscreen()
  }
  frame.addEventListener('pointerdown', onPointerDown, { signal, capture: true })
  frame.addEventListener('click', suppressClick, { signal, capture: true })
  video.addEventListener('click', onClick, { signal })
  video.addEventListener('dblclick', onDoubleClick, { signal })
  signal.addEventListener('abort', () => clearTimeout(timer))
}

function areControlsHidden({ dataset }: HTMLElement): boolean {
  const canHide = dataset['controls'] !== 'false' && dataset['autohide'] !== 'false'
  return canHide && dataset['idle'] === 'true' && dataset['playing'] === 'true'
}
