import { clockText } from './clock-text.ts'
import styles from './seek-peek.css?inline'
import { part, type Stage } from './stage.ts'
import { addStyles } from './stage-extras.ts'
import { readStoryboard, type StoryboardTile, tileAt } from './storyboard.ts'
import { wholeLength } from './whole-length.ts'

/** Milliseconds that the picture stays after a key moved the position. */
const staysFor = 1_200
/** Pixels above and below the thin bar that belong to it. */
const reach = 12

/**
 * Shows above the seek bar what the video shows there: under the pointer, under a finger that drags, and where keys have gone. The answered
 * function tells where the storyboard is, as soon as there is one; nothing is asked for before somebody looks.
 */
export function wireSeekPeek({ frame, video }: Stage, signal: AbortSignal): (storyboard: string) => void {
  addStyles(frame, 'seek-peek', styles)
  const controls = part(frame, '.controls', HTMLElement)
  const seek = part(frame, '.seek', HTMLInputElement)
  const peek = document.createElement('div')
  peek.className = 'peek'
  peek.hidden = true
  // The bar itself says the position to those who do not see it.
  peek.setAttribute('aria-hidden', 'true')
  const picture = document.createElement('div')
  const time = document.createElement('span')
  peek.append(picture, time)
  controls.append(peek)

  let address = ''
  let tiles: Promise<StoryboardTile[]> | undefined
  let asked = 0
  const hide = () => {
    asked++
    peek.hidden = true
  }
  const show = async (seconds: number) => {
    const turn = ++asked
    const length = wholeLength(frame, video)
    if (length === 0) return
    time.textContent = clockText(seconds)
    peek.hidden = false
    place(peek, seek, seconds / length)
    tiles ??= address === '' ? undefined : askStoryboard(address, signal)
    const tile = tileAt((await tiles) ?? [], seconds)
    if (turn !== asked) return
    picture.hidden = tile === undefined
    if (tile) paint(picture, tile)
    place(peek, seek, seconds / length)
  }

  controls.addEventListener(
    'pointermove',
    (event) => {
      const bar = seek.getBoundingClientRect()
      const isOn = event.clientY > bar.top - reach && event.clientY < bar.bottom + reach
      const share = (event.clientX - bar.left) / bar.width
      if (!isOn || share < 0 || share > 1) hide()
      else void show(share * wholeLength(frame, video))
    },
    { signal },
  )
  for (const event of ['pointerleave', 'pointercancel']) controls.addEventListener(event, hide, { signal })
  const hideAfterTouch = ({ pointerType }: PointerEvent) => pointerType === 'touch' && hide()
  controls.addEventListener('pointerup', hideAfterTouch, { signal })
  seek.addEventListener('input', () => void show(Number(seek.value)), { signal })
  onKeySeek(video, (seconds) => void show(seconds), hide, signal)
  signal.addEventListener('abort', () => peek.remove(), { once: true })
  return (storyboard) => {
    if (storyboard !== address) tiles = undefined
    address = storyboard
  }
}

/** Arrows move the position wherever the focus is; `away` when the last of them is some time ago. */
function onKeySeek(video: HTMLVideoElement, moved: (seconds: number) => void, away: () => void, signal: AbortSignal): void {
  let pressed = Number.NEGATIVE_INFINITY
  let timer = 0
  const press = ({ key, timeStamp }: KeyboardEvent) => {
    if (key.startsWith('Arrow')) pressed = timeStamp
  }
  const seeking = ({ timeStamp }: Event) => {
    if (timeStamp - pressed > staysFor) return
    moved(video.currentTime)
    clearTimeout(timer)
    timer = window.setTimeout(away, staysFor)
  }
  window.addEventListener('keydown', press, { signal, capture: true })
  video.addEventListener('seeking', seeking, { signal })
  signal.addEventListener('abort', () => clearTimeout(timer))
}

/** Above the place of the bar, but not beyond its ends. */
function place(peek: HTMLElement, seek: HTMLElement, share: number): void {
  const half = peek.offsetWidth / 2
  const at = Math.min(1, Math.max(0, share)) * seek.offsetWidth
  const left = seek.offsetLeft + Math.max(half, Math.min(seek.offsetWidth - half, at))
  peek.style.setProperty('--at', `${left}px`)
}

function paint(element: HTMLElement, { picture, x, y, width, height }: StoryboardTile): void {
  element.style.width = `${width}px`
  element.style.height = `${height}px`
  element.style.backgroundImage = `url("${picture}")`
  element.style.backgroundPosition = `-${x}px -${y}px`
}

async function askStoryboard(address: string, signal: AbortSignal): Promise<StoryboardTile[]> {
  try {
    const answer = await fetch(address, { signal: AbortSignal.any([signal, AbortSignal.timeout(10_000)]) })
    if (!answer.ok) return []
    // Of all its tiles: as soon as one is looked at, others will be.
    const tiles = readStoryboard(await answer.text(), answer.url)
    for (const picture of new Set(tiles.map((tile) => tile.picture))) new Image().src = picture
    return tiles
  } catch {
    // The bar works without pictures.
    return []
  }
}
