import { formatClock, formatDuration } from '../dom/clock-text.ts'
import { focusInPlayer } from '../dom/focus-in-player.ts'
import { requireElement } from '../dom/require-element.ts'
import type { Choice, Playback } from '../playback/playback.ts'
import { createCaptionsMenu } from './captions-menu.ts'
import { readFullDuration, readPlayableDuration } from './duration.ts'
import { onPlayerKey, seekTo, setVolume } from './player-keys.ts'
import { wirePointers } from './player-pointers.ts'

/** Milliseconds without pointer movement after which the controls of a playing video are hidden. */
const IDLE_MS = 2_500

/**
 * Wires the control bar: buttons, sliders, menus and keys. `refresh` updates the choices of the
 * menus.
 */
export function wireControls(frame: HTMLElement, video: HTMLVideoElement, getPlayback: () => Playback | undefined, signal: AbortSignal) {
  const seek = requireElement(frame, '.seek', HTMLInputElement)
  const volume = requireElement(frame, '.volume', HTMLInputElement)
  const positionText = requireElement(frame, '.now', HTMLElement)
  const durationText = requireElement(frame, '.total', HTMLElement)
  const startButton = requireElement(frame, '.start', HTMLButtonElement)
  const setCaptionChoices = createCaptionsMenu(
    frame,
    requireElement(frame, '[data-menu=captions]', HTMLElement),
    (value) => getPlayback()?.captions.choose(value),
    signal,
  )
  const setQualityChoices = wireMenu(frame, 'quality', (value) => getPlayback()?.chooseQuality(value), signal)

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

  const update = () => {
    const duration = readFullDuration(frame, video)
    const toPercent = (seconds: number) => `${duration > 0 ? (100 * seconds) / duration : 0}%`
    seek.max = String(duration)
    seek.value = String(video.currentTime)
    seek.style.setProperty('--done', toPercent(video.currentTime))
    seek.style.setProperty('--playable', toPercent(readPlayableDuration(video)))
    const position = video.ended ? formatDuration(duration) : formatClock(video.currentTime)
    seek.setAttribute('aria-valuetext', `${position} of ${formatDuration(duration)}`)
    positionText.textContent = position
    durationText.textContent = ` / ${formatDuration(duration)}`
    const loudness = video.muted ? 0 : video.volume
    volume.value = String(loudness)
    volume.style.setProperty('--done', `${100 * loudness}%`)
    frame.dataset['playing'] = String(!video.paused)
    if (!video.paused) hideStart(frame, startButton)
    frame.dataset['muted'] = String(loudness === 0)
    // The browser pauses a video that it cannot load any further.
    const hasFailed = video.error !== null
    frame.dataset['waiting'] = String(hasFailed || (!video.paused && video.readyState < video.HAVE_FUTURE_DATA))
    for (const button of frame.querySelectorAll('[data-does=play]')) button.setAttribute('aria-label', video.paused ? 'Play' : 'Pause')
    requireElement(frame, '[data-does=mute]', HTMLElement).setAttribute('aria-label', loudness === 0 ? 'Unmute' : 'Mute')
  }
  for (const event of ['timeupdate', 'durationchange', 'play', 'pause', 'playing', 'waiting', 'volumechange', 'seeked', 'ended', 'error']) {
    video.addEventListener(event, update, { signal })
  }
  frame.addEventListener('lengthchange', update, { signal })
  // If a playlist continues with its next video, these listeners have already been removed.
  const showStart = () => {
    frame.dataset['started'] = 'false'
  }
  video.addEventListener('ended', showStart, { signal })
  window.addEventListener('keydown', (event) => onPlayerKey(event, frame, video, actions), { signal })
  hideWhenIdle(frame, video, signal)
  update()

  return {
    refresh: () => {
      setCaptionChoices(getPlayback()?.captions.listChoices() ?? [], getPlayback()?.captions.chosenIndex() ?? -1)
      setQualityChoices(getPlayback()?.listQualities() ?? [], getPlayback()?.getChosenQuality())
    },
  }
}

/**
 * Wires a menu that is visible while there are choices. Returns the function that sets the choices.
 */
function wireMenu(
  frame: HTMLElement,
  name: string,
  choose: (value: number) => void,
  signal: AbortSignal,
): (choices: Choice[], chosen?: number) => void {
  const label = requireElement(frame, `[data-menu=${name}]`, HTMLElement)
  const select = requireElement(label, 'select', HTMLSelectElement)
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
  focusInPlayer(requireElement(frame, '.row [data-does=play]', HTMLButtonElement))
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
