import { t } from 'media-chrome/dist/utils/i18n.js'
import { focusInPlayer } from '../dom/focus-in-player.ts'
import { requireElement } from '../dom/require-element.ts'
import { text } from '../language/text.ts'
import type { PlayerActions } from './player-actions.ts'
import { createPlayerKeys } from './player-keys.ts'
import { wirePointers } from './player-pointers.ts'
import type { PlayerShell } from './player-shell.ts'
import { readFullDuration } from './player-store.ts'
import { buildSettingsMenu } from './settings-menu.ts'
import { createShortcutSheet } from './shortcut-sheet.ts'

const MAX_RATE = 2
const MIN_RATE = 0.25

/**
 * Connects the control bar of media-chrome with keys, pointers and the parts that media-chrome does
 * not have, until the signal aborts. Keys are read from `keyTarget`. `refresh` shows the choices of the current playback.
 */
export function wireControls(shell: PlayerShell, keyTarget: Window | HTMLElement, signal: AbortSignal): { refresh: () => void } {
  const { frame, controller, video, source } = shell
  const request = (type: string) => controller.dispatchEvent(new CustomEvent(type))
  const sheet = createShortcutSheet(frame, signal)
  const actions: PlayerActions = {
    play: () => (video.paused ? void video.play().catch(() => {}) : video.pause()),
    mute: () => {
      video.muted = !video.muted
    },
    fullscreen: () => request(document.fullscreenElement ? 'mediaexitfullscreenrequest' : 'mediaenterfullscreenrequest'),
    captions: () => request('mediatogglesubtitlesrequest'),
    seekTo: (seconds) => {
      video.currentTime = Math.min(Math.max(0, seconds), readFullDuration(video, source) || seconds)
    },
    setVolume: (volume) => {
      video.volume = Math.min(1, Math.max(0, volume))
      video.muted = video.volume === 0
    },
    setRate: (rate) => {
      video.playbackRate = Math.min(MAX_RATE, Math.max(MIN_RATE, rate))
    },
    showShortcuts: () => sheet.toggle(),
  }
  const onKey = createPlayerKeys(shell, actions)
  keyTarget.addEventListener('keydown', (event) => event instanceof KeyboardEvent && onKey(event), { signal })
  wirePointers(shell, actions, signal)
  followVideo(shell, signal)
  showChapter(shell, signal)
  const showMenus = buildSettingsMenu(shell, actions, signal)
  const refresh = () => {
    const { playback } = source
    frame.dataset['sound'] = String(playback?.hasSound() ?? true)
    showMenus({
      quality: (playback?.listQualities().length ?? 0) > 1,
      audio: (playback?.listAudioTracks().length ?? 0) > 1,
      captions: (playback?.captions.listTracks().length ?? 0) > 0,
    })
    source.onChange.dispatchEvent(new Event('change'))
  }
  refresh()
  return { refresh }
}

/** Sets the attributes of the frame that styles depend on. */
function followVideo({ frame, video, source }: PlayerShell, signal: AbortSignal): void {
  const seek = requireElement(frame, '.seek', HTMLElement)
  const playButtons = frame.querySelectorAll('media-play-button')
  const startButton = requireElement(frame, '.start', HTMLElement)
  const update = () => {
    const duration = readFullDuration(video, source)
    const playable = Number.isFinite(video.duration) ? video.duration : 0
    seek.style.setProperty('--playable', `${duration > 0 ? (100 * playable) / duration : 0}%`)
    frame.dataset['playing'] = String(!video.paused)
    const hadEnded = frame.dataset['ended'] === 'true'
    frame.dataset['ended'] = String(video.ended)
    frame.dataset['muted'] = String(video.muted || video.volume === 0)
    if (!video.paused && frame.dataset['started'] !== 'true') {
      // The focused start button disappears. The button in the bar has the same function.
      const hasFocus = startButton.matches(':focus')
      frame.dataset['started'] = 'true'
      if (hasFocus) focusPlay(frame)
    }
    if (video.ended) {
      frame.dataset['started'] = 'false'
      for (const button of playButtons) button.setAttribute('aria-label', text('replay'))
    } else if (hadEnded) {
      // A seek back from the end does not change whether the video is paused, so media-chrome keeps the label.
      for (const button of playButtons) button.setAttribute('aria-label', t(video.paused ? 'play' : 'pause'))
    }
    // The browser pauses a video that it cannot load any further.
    frame.dataset['waiting'] = String(video.error !== null || (!video.paused && video.readyState < video.HAVE_FUTURE_DATA))
    if (video.videoHeight > 0) frame.style.setProperty('--ratio', String(video.videoWidth / video.videoHeight))
  }
  const events = [
    'timeupdate',
    'durationchange',
    'play',
    'pause',
    'playing',
    'waiting',
    'volumechange',
    'seeked',
    'ended',
    'error',
    'resize',
  ]
  for (const event of events) video.addEventListener(event, update, { signal })
  source.onChange.addEventListener('change', update, { signal })
  update()
}

/** Shows the title of the current chapter. */
function showChapter({ frame, video, source }: PlayerShell, signal: AbortSignal): void {
  const element = requireElement(frame, '.chapter', HTMLElement)
  const update = () => {
    const title = source.chapters.findLast(({ start }) => start <= video.currentTime)?.title ?? ''
    if (element.textContent !== title) element.textContent = title
  }
  for (const event of ['timeupdate', 'seeking', 'emptied']) video.addEventListener(event, update, { signal })
  source.onChange.addEventListener('change', update, { signal })
  update()
}

export function focusPlay(frame: HTMLElement): void {
  focusInPlayer(requireElement(frame, '.row .play-pause', HTMLElement))
}
