import { captionsMenu } from './captions-menu.ts'
import { clockText, lengthText } from './clock-text.ts'
import { fullDuration, playableDuration } from './duration.ts'
import { focusInPlayer } from './focus-in-player.ts'
import type { Choice, Playback } from './playback.ts'
import { onPlayerKey, seekTo, setVolume } from './player-keys.ts'
import { wirePointers } from './player-pointers.ts'
import { part } from './player-shell.ts'

/** Milliseconds without pointer movement after which the controls of a playing video are hidden. */
const IDLE_MS = 2_500

/**
 * Wires the control bar: buttons, sliders, menus and keys. `refresh` updates the choices of the
 * menus.
 */
export function wireControls(frame: HTMLElement, video: HTMLVideoElement, playback: () => Playback | undefined, signal: AbortSignal) {
  const seek = part(frame, '.seek', HTMLInputElement)
  const volume = part(frame, '.volume', HTMLInputElement)
  const now = part(frame, '.now', HTMLElement)
  const total = part(frame, '.total', HTMLElement)
  const start = part(frame, '.start', HTMLButtonElement)
  const captions = captionsMenu(
    frame,
    part(frame, '[data-menu=captions]', HTMLElement),
    (value) => playback()?.captions.choose(value),
    signal,
  )
  const quality = menu(frame, 'quality', (value) => playback()?.chooseQuality(value), signal)

  const actions = {
    play: () => (video.paused ? void video.play().catch(() => {}) : video.pause()),
    mute: () => {
      video.muted = !video.muted
    },
    fullscreen: () => void (document.fullscreenElement ? document.exitFullscreen() : enterFullscreen(frame, video)),
  }
  for (const button of frame.querySelectorAll<HTMLButtonElement>('[data-does]')) {
    const action = Object.entries(actions).find(([name]) => name === button.dataset['does'])?.[1]
    if (action) button.addEventListener('click', action, { signal })
  }
  wirePointers(frame, video, actions, signal)

  seek.addEventListener('input', () => seekTo(video, Number(seek.value)), { signal })
  volume.addEventListener('input', () => setVolume(video, Number(volume.value)), { signal })

  const show = () => {
    const length = fullDuration(frame, video)
    const share = (seconds: number) => `${length > 0 ? (100 * seconds) / length : 0}%`
    seek.max = String(length)
    seek.value = String(video.currentTime)
    seek.style.setProperty('--done', share(video.currentTime))
    seek.style.setProperty('--playable', share(playableDuration(video)))
    const position = video.ended ? lengthText(length) : clockText(video.currentTime)
    seek.setAttribute('aria-valuetext', `${position} of ${lengthText(length)}`)
    now.textContent = position
    total.textContent = ` / ${lengthText(length)}`
    const loudness = video.muted ? 0 : video.volume
    volume.value = String(loudness)
    volume.style.setProperty('--done', `${100 * loudness}%`)
    frame.dataset['playing'] = String(!video.paused)
    if (!video.paused) hideStart(frame, start)
    frame.dataset['muted'] = String(loudness === 0)
    // The browser pauses a video that it cannot load any further.
    const hasFailed = video.error !== null
    frame.dataset['waiting'] = String(hasFailed || (!video.paused && video.readyState < video.HAVE_FUTURE_DATA))
    for (const button of frame.querySelectorAll('[data-does=play]')) button.setAttribute('aria-label', video.paused ? 'Play' : 'Pause')
    part(frame, '[data-does=mute]', HTMLElement).setAttribute('aria-label', loudness === 0 ? 'Unmute' : 'Mute')
  }
  for (const event of ['timeupdate', 'durationchange', 'play', 'pause', 'playing', 'waiting', 'volumechange', 'seeked', 'ended', 'error']) {
    video.addEventListener(event, show, { signal })
  }
  frame.addEventListener('lengthchange', show, { signal })
  // If a playlist continues with its next video, these listeners have already been removed.
  const showStart = () => {
    frame.dataset['started'] = 'false'
  }
  video.addEventListener('ended', showStart, { signal })
  window.addEventListener('keydown', (event) => onPlayerKey(event, frame, video, actions), { signal })
  hideWhenIdle(frame, video, signal)
  show()

  return {
    refresh: () => {
      captions(playback()?.captions.choices() ?? [], playback()?.captions.chosen() ?? -1)
      quality(playback()?.qualities() ?? [], playback()?.chosenQuality())
    },
  }
}

/**
 * Wires a menu that is visible while there are choices. Returns the function that sets the choices.
 */
function menu(
  frame: HTMLElement,
  name: string,
  choose: (value: number) => void,
  signal: AbortSignal,
): (choices: Choice[], chosen?: number) => void {
  const label = part(frame, `[data-menu=${name}]`, HTMLElement)
  const select = part(label, 'select', HTMLSelectElement)
  select.addEventListener('change', () => choose(Number(select.value)), { signal })
  return (choices, chosen) => {
    const value = String(chosen ?? select.value)
    label.hidden = choices.length === 0
    select.replaceChildren(...choices.map((choice) => new Option(choice.label, String(choice.value))))
    if (choices.some((choice) => String(choice.value) === value)) select.value = value
  }
}

/**
 * Hides the start button. If it has the focus, the focus moves to the play button, which has the
 * same function.
 */
function hideStart(frame: HTMLElement, start: HTMLButtonElement): void {
  const hasFocus = start.matches(':focus')
  frame.dataset['started'] = 'true'
  if (hasFocus) focusPlay(frame)
}

export function focusPlay(frame: HTMLElement): void {
  focusInPlayer(part(frame, '.row [data-does=play]', HTMLButtonElement))
}

/** Phones can only show the `<video>` itself in full screen, with native controls. */
function enterFullscreen(frame: HTMLElement, video: HTMLVideoElement): void {
  if (frame.requestFullscreen) void frame.requestFullscreen().catch(() => {})
  else if ('webkitEnterFullscreen' in video && typeof video.webkitEnterFullscreen === 'function') video.webkitEnterFullscreen()
}

function hideWhenIdle(frame: HTMLElement, video: HTMLVideoElement, signal: AbortSignal): void {
  let timer = 0
  const wake = () => {
    frame.dataset['idle'] = 'false'
    clearTimeout(timer)
    timer = window.setTimeout(() => {
      frame.dataset['idle'] = String(!video.paused)
    }, IDLE_MS)
  }
  for (const event of ['pointermove', 'pointerdown', 'focusin']) frame.addEventListener(event, wake, { signal })
  window.addEventListener('keydown', wake, { signal })
  video.addEventListener('play', wake, { signal })
  video.addEventListener('pause', wake, { signal })
  signal.addEventListener('abort', () => clearTimeout(timer))
}
