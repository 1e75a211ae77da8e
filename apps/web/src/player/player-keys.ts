/** Actions of keys, except for seeking and volume. */
export interface PlayerActions {
  play: () => void
  mute: () => void
  fullscreen: () => void
}

/** Seconds that an arrow key seeks. */
const SEEK_SECONDS = 5

/**
 * Handles a key press anywhere in the page, which has only one player. Keys that the focused
 * element uses itself are ignored.
 */
export function onPlayerKey(event: KeyboardEvent, frame: HTMLElement, video: HTMLVideoElement, actions: PlayerActions): void {
  if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || frame.dataset['shows'] !== 'video') return
  const [target] = event.composedPath()
  const ownKeys = target instanceof Element ? findOwnKeys(target) : ''
  if (ownKeys === 'all' || (ownKeys === 'space' && event.key === ' ') || (ownKeys === 'arrows' && event.key.startsWith('Arrow'))) return
  const isOnSeekBar = target instanceof Element && target.matches('.seek')
  const [back, forward] = [() => seekTo(video, video.currentTime - SEEK_SECONDS), () => seekTo(video, video.currentTime + SEEK_SECONDS)]
  const keys: Record<string, (() => void) | undefined> = {
    ' ': actions.play,
    k: actions.play,
    m: actions.mute,
    f: actions.fullscreen,
    ArrowLeft: back,
    ArrowRight: forward,
    ArrowUp: isOnSeekBar ? forward : () => setVolume(video, video.volume + 0.1),
    ArrowDown: isOnSeekBar ? back : () => setVolume(video, video.volume - 0.1),
  }
  const action = keys[event.key]
  if (!action) return
  event.preventDefault()
  action()
}

/** Returns the keys that an element handles itself. */
function findOwnKeys(target: Element): 'all' | 'space' | 'arrows' | '' {
  if (target.matches('select, textarea, input:not([type=range]), [contenteditable]')) return 'all'
  if (target.matches('a, button')) return 'space'
  // Arrow keys scroll cards with long texts.
  return target.matches('input:not(.seek), .overlay, .overlay *') ? 'arrows' : ''
}

export function seekTo(video: HTMLVideoElement, seconds: number): void {
  video.currentTime = Math.max(0, seconds)
}

export function setVolume(video: HTMLVideoElement, volume: number): void {
  video.volume = Math.min(1, Math.max(0, volume))
  video.muted = video.volume === 0
}
