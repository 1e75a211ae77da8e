import { ARROW_SECONDS, LETTER_SECONDS, type PlayerActions } from './player-actions.ts'
import type { PlayerShell } from './player-shell.ts'
import { readFullDuration } from './player-store.ts'

const VOLUME_STEP = 0.05
const RATE_STEP = 0.25

/**
 * Returns the listener for keys anywhere in the page, or in the player if the page has other content. Keys that the
 * focused element uses itself are ignored.
 */
export function createPlayerKeys(
  { frame, controller, video, source }: PlayerShell,
  actions: PlayerActions,
): (event: KeyboardEvent) => void {
  const seekBy = (seconds: number) => () => actions.seekTo(video.currentTime + seconds)
  const changeVolume = (step: number) => () => actions.setVolume((video.muted ? 0 : video.volume) + step)
  const duration = () => readFullDuration(video, source)
  const keys: Readonly<Record<string, () => void>> = {
    ' ': actions.play,
    k: actions.play,
    m: actions.mute,
    f: actions.fullscreen,
    c: actions.captions,
    j: seekBy(-LETTER_SECONDS),
    l: seekBy(LETTER_SECONDS),
    ArrowLeft: seekBy(-ARROW_SECONDS),
    ArrowRight: seekBy(ARROW_SECONDS),
    ArrowUp: changeVolume(VOLUME_STEP),
    ArrowDown: changeVolume(-VOLUME_STEP),
    Home: () => actions.seekTo(0),
    End: () => actions.seekTo(duration()),
    '<': () => actions.setRate(video.playbackRate - RATE_STEP),
    '>': () => actions.setRate(video.playbackRate + RATE_STEP),
    '?': actions.showShortcuts,
  }
  return (event) => {
    if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || frame.dataset['shows'] !== 'video') return
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key
    const path = event.composedPath().filter((target) => target instanceof Element)
    if (isUsedByFocus(path, key) || (frame.dataset['roll'] !== undefined && !rollKeys.has(key))) return
    const isOnSeekBar = path.some((element) => element.localName === 'media-time-range')
    const digit = /^\d$/.test(key) ? Number(key) : undefined
    const action = digit !== undefined ? () => actions.seekTo((duration() * digit) / 10) : keys[isOnSeekBar ? toSeekKey(key) : key]
    if (!action) return
    event.preventDefault()
    action()
    // Shows the controls, also if the focus is not in them.
    controller.dispatchEvent(new Event('keyup'))
  }
}

/** Keys that work during the videos before and after the video. */
const rollKeys: ReadonlySet<string> = new Set([' ', 'k', 'm', 'f', 'c', 'ArrowUp', 'ArrowDown', '?'])

/** On the seek bar, up and down seek as well. */
function toSeekKey(key: string): string {
  if (key === 'ArrowUp') return 'ArrowRight'
  return key === 'ArrowDown' ? 'ArrowLeft' : key
}

/** Returns whether the focused element handles the key itself. */
function isUsedByFocus(path: readonly Element[], key: string): boolean {
  const [target] = path
  if (!target) return false
  if (target.matches('select, textarea, input:not([type=range]), [contenteditable]')) return true
  const isIn = (selector: string) => path.some((element) => element.matches(selector))
  if (isIn('media-settings-menu, dialog')) return true
  if (key === ' ' || key === 'Enter') return isIn('a, button, summary, [role=button], [role=switch]')
  const isMoveKey = key.startsWith('Arrow') || key === 'Home' || key === 'End'
  // Arrow keys change the volume slider, scroll cards with long texts, and move in lists.
  return isMoveKey && isIn('media-volume-range, .overlay, .list, .slide-list')
}
