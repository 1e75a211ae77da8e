import { LETTER_SECONDS, type PlayerActions } from './player-actions.ts'
import type { PlayerShell } from './player-shell.ts'

/** Milliseconds that a click or tap on the picture waits for a second one. */
const DOUBLE_CLICK_MS = 250
/** Milliseconds that the sign of a double tap is shown. */
const SIGN_MS = 600

/**
 * Handles clicks and taps on the picture. A click plays or pauses, and a double click toggles full
 * screen. A tap shows or hides the controls (media-chrome), and a double tap on the left or right
 * third seeks.
 */
export function wirePointers({ frame, controller, video }: PlayerShell, actions: PlayerActions, signal: AbortSignal): void {
  let isTouch = false
  let timer: number | undefined
  let lastTap: { at: number; side: -1 | 0 | 1 } | undefined
  const onPointerDown = ({ pointerType }: PointerEvent) => {
    isTouch = pointerType === 'touch'
  }
  const findSide = (x: number): -1 | 0 | 1 => {
    const { left, width } = frame.getBoundingClientRect()
    if (x < left + width / 3) return -1
    return x > left + (2 * width) / 3 ? 1 : 0
  }
  const onTap = ({ clientX, timeStamp }: MouseEvent) => {
    const side = findSide(clientX)
    const isSecond = lastTap !== undefined && timeStamp - lastTap.at < 2 * DOUBLE_CLICK_MS && lastTap.side === side && side !== 0
    lastTap = { at: timeStamp, side }
    // The videos before and after the video cannot be skipped.
    if (!isSecond || frame.dataset['roll'] !== undefined) return
    actions.seekTo(video.currentTime + side * LETTER_SECONDS)
    showSeekSign(frame, side)
  }
  const onClick = (event: MouseEvent) => {
    if (isTouch) return onTap(event)
    if (event.detail > 1) return
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
  controller.addEventListener('pointerdown', onPointerDown, { signal, capture: true })
  video.addEventListener('click', onClick, { signal })
  video.addEventListener('dblclick', onDoubleClick, { signal })
  signal.addEventListener('abort', () => clearTimeout(timer))
}

/** Shows the seconds that a double tap has sought. */
function showSeekSign(frame: HTMLElement, side: -1 | 0 | 1): void {
  frame.querySelector('.seek-sign')?.remove()
  const sign = document.createElement('span')
  sign.className = 'seek-sign'
  sign.dataset['side'] = side < 0 ? 'back' : 'forward'
  sign.textContent = `${side < 0 ? '−' : '+'}${LETTER_SECONDS}`
  sign.setAttribute('aria-hidden', 'true')
  frame.append(sign)
  window.setTimeout(() => sign.remove(), SIGN_MS)
}
