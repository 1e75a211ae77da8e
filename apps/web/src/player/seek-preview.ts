import { addStyles } from '../dom/add-styles.ts'
import { formatClock } from '../dom/clock-text.ts'
import { requireElement } from '../dom/require-element.ts'
import { type ConnectionRecovery, isOutageStatus } from '../recovery/connection-recovery.ts'
import { loadAfterOutage } from '../recovery/load-after-outage.ts'
import type { PlayerShell } from './player-shell.ts'
import { readFullDuration } from './player-store.ts'
import styles from './seek-preview.css?inline'
import { findTile, readStoryboard, type StoryboardTile } from './storyboard.ts'

/** Milliseconds that the preview stays visible after a key press. */
const PREVIEW_MS = 1_200
/** Pixels above and below the thin bar that react to the pointer. */
const REACH_PX = 12

export interface SeekPreviewOptions {
  recovery: ConnectionRecovery
  /** Returns the URL of a file with the current token of the viewer. */
  toMediaUrl: (media: string) => string
}

/**
 * Shows a preview picture above the seek bar: under the pointer, under a dragging finger, and at
 * the position after a key press. The returned function sets the URL of the storyboard, without a
 * token. Nothing is loaded before the first preview.
 */
export function wireSeekPreview(
  { frame, video, source }: PlayerShell,
  { recovery, toMediaUrl }: SeekPreviewOptions,
  signal: AbortSignal,
): (storyboard: string) => void {
  addStyles(frame, 'seek-preview', styles)
  const controls = requireElement(frame, '.controls', HTMLElement)
  const seek = requireElement(frame, '.seek', HTMLElement)
  const preview = document.createElement('div')
  preview.className = 'peek'
  preview.hidden = true
  // Screen readers read the position from the seek bar itself.
  preview.setAttribute('aria-hidden', 'true')
  const picture = document.createElement('div')
  const time = document.createElement('span')
  const chapter = document.createElement('span')
  chapter.className = 'chapter-title'
  chapter.dir = 'auto'
  preview.append(picture, chapter, time)
  controls.append(preview)

  let storyboard = ''
  /** URL from which the tiles are loaded. */
  let address = ''
  let tiles: Promise<StoryboardTile[]> | undefined
  let lastRequest = 0
  /** Loads the tiles at the first call, and again after the token of the viewer was renewed. */
  const loadTiles = () => {
    const current = toMediaUrl(storyboard)
    if (current !== address) tiles = undefined
    address = current
    tiles ??= address === '' ? undefined : loadStoryboard(address, recovery, signal)
    return tiles
  }
  const hide = () => {
    lastRequest++
    preview.hidden = true
  }
  const show = async (seconds: number) => {
    const request = ++lastRequest
    const duration = readFullDuration(video, source)
    if (duration === 0) return
    time.textContent = formatClock(seconds)
    chapter.textContent = source.chapters.findLast(({ start }) => start <= seconds)?.title ?? ''
    preview.hidden = false
    positionPreview(preview, seek, seconds / duration)
    const tile = findTile((await loadTiles()) ?? [], seconds)
    if (request !== lastRequest) return
    picture.hidden = tile === undefined
    if (tile) drawTile(picture, tile)
    positionPreview(preview, seek, seconds / duration)
  }

  controls.addEventListener(
    'pointermove',
    (event) => {
      const bar = seek.getBoundingClientRect()
      const isOverBar = event.clientY > bar.top - REACH_PX && event.clientY < bar.bottom + REACH_PX
      const ratio = (event.clientX - bar.left) / bar.width
      if (!isOverBar || ratio < 0 || ratio > 1) hide()
      else void show(ratio * readFullDuration(video, source))
    },
    { signal },
  )
  for (const event of ['pointerleave', 'pointercancel']) controls.addEventListener(event, hide, { signal })
  const hideAfterTouch = ({ pointerType }: PointerEvent) => pointerType === 'touch' && hide()
  controls.addEventListener('pointerup', hideAfterTouch, { signal })
  seek.addEventListener('mediaseekrequest', (event) => event instanceof CustomEvent && void show(Number(event.detail)), { signal })
  onKeySeek(video, (seconds) => void show(seconds), hide, signal)
  signal.addEventListener('abort', () => preview.remove(), { once: true })
  return (changed) => {
    storyboard = changed
  }
}

/**
 * Calls `onSeek` when an arrow key seeks, regardless of the focus, and `onIdle` `PREVIEW_MS` after
 * the last key.
 */
function onKeySeek(video: HTMLVideoElement, onSeek: (seconds: number) => void, onIdle: () => void, signal: AbortSignal): void {
  let lastPressTime = Number.NEGATIVE_INFINITY
  let timer = 0
  const onKeyDown = ({ key, timeStamp }: KeyboardEvent) => {
    if (key.startsWith('Arrow')) lastPressTime = timeStamp
  }
  const onSeeking = ({ timeStamp }: Event) => {
    if (timeStamp - lastPressTime > PREVIEW_MS) return
    onSeek(video.currentTime)
    clearTimeout(timer)
    timer = window.setTimeout(onIdle, PREVIEW_MS)
  }
  window.addEventListener('keydown', onKeyDown, { signal, capture: true })
  video.addEventListener('seeking', onSeeking, { signal })
  signal.addEventListener('abort', () => clearTimeout(timer))
}

/** Moves the preview above the position, but not beyond the ends of the bar. */
function positionPreview(preview: HTMLElement, seek: HTMLElement, ratio: number): void {
  const halfWidth = preview.offsetWidth / 2
  const pixels = Math.min(1, Math.max(0, ratio)) * seek.offsetWidth
  const left = seek.offsetLeft + Math.max(halfWidth, Math.min(seek.offsetWidth - halfWidth, pixels))
  preview.style.setProperty('--at', `${left}px`)
}

function drawTile(element: HTMLElement, { picture, x, y, width, height }: StoryboardTile): void {
  element.style.width = `${width}px`
  element.style.height = `${height}px`
  element.style.backgroundImage = `url("${picture}")`
  element.style.backgroundPosition = `-${x}px -${y}px`
}

/**
 * Loads the tiles, after an outage if necessary. Returns an empty list if the storyboard is
 * missing, because the bar works without pictures.
 */
async function loadStoryboard(address: string, recovery: ConnectionRecovery, signal: AbortSignal): Promise<StoryboardTile[]> {
  const load = async () => {
    const response = await fetch(address, { signal: AbortSignal.any([signal, AbortSignal.timeout(10_000)]) })
    if (isOutageStatus(response.status)) throw new Error(`the storyboard request failed with status ${response.status}`)
    if (!response.ok) return []
    // Preloads the pictures of all tiles, because the viewer will probably look at more of them.
    const tiles = readStoryboard(await response.text(), response.url)
    for (const picture of new Set(tiles.map((tile) => tile.picture))) new Image().src = picture
    return tiles
  }
  return loadAfterOutage(load, recovery, signal).catch(() => [])
}
