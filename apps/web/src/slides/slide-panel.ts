import { addStyles } from '../dom/add-styles.ts'
import { type ConnectionRecovery, isOutageStatus } from '../recovery/connection-recovery.ts'
import { loadAfterOutage } from '../recovery/load-after-outage.ts'
import { findSlide, readSlides, type Slide } from './slide.ts'
import styles from './slide-panel.css?inline'

export interface SlideOptions {
  frame: HTMLElement
  video: HTMLVideoElement
  presentationId: string
  /** Returns the URL of a picture with the viewer's token. */
  toMediaUrl: (media: string) => string
  recovery: ConnectionRecovery
}

/**
 * Shows the slides of a presentation next to its video, each at its time, until the signal aborts.
 * Without slides, only the video is shown.
 */
export async function showSlides({ frame, video, presentationId, toMediaUrl, recovery }: SlideOptions, signal: AbortSignal): Promise<void> {
  const slides = await loadSlides(presentationId, recovery, signal)
  if (slides.length === 0 || signal.aborted) return
  addStyles(frame, 'slides', styles)
  const panel = document.createElement('aside')
  panel.className = 'slides'
  const picture = document.createElement('img')
  panel.append(picture)
  frame.after(panel)
  frame.dataset['slides'] = 'true'
  const update = () => {
    const slide = findSlide(slides, video.currentTime)
    if (!slide || picture.dataset['number'] === String(slide.number)) return
    picture.dataset['number'] = String(slide.number)
    picture.src = toMediaUrl(slide.url)
    picture.alt = `Slide ${slide.number} of ${slides.length}`
  }
  const reload = () => {
    delete picture.dataset['number']
    update()
  }
  picture.addEventListener('error', () => {
    recovery.waitForEnd(recovery.endedRecoveries, signal).then(reload, () => {})
  })
  for (const event of ['timeupdate', 'seeking', 'seeked']) video.addEventListener(event, update, { signal })
  const removePanel = () => {
    panel.remove()
    delete frame.dataset['slides']
  }
  signal.addEventListener('abort', removePanel, { once: true })
  update()
}

/**
 * Loads the slides, after an outage if necessary. Returns an empty list on failure, because the video
 * plays without slides.
 */
async function loadSlides(presentationId: string, recovery: ConnectionRecovery, signal: AbortSignal): Promise<Slide[]> {
  const load = async () => {
    const response = await fetch(`/v2/presentation/${encodeURIComponent(presentationId)}`, {
      headers: { accept: 'application/json' },
      signal: AbortSignal.any([signal, AbortSignal.timeout(10_000)]),
    })
    if (isOutageStatus(response.status)) throw new Error(`the request for the slides failed with status ${response.status}`)
    return response.ok ? readSlides(await response.json()) : []
  }
  return loadAfterOutage(load, recovery, signal).catch(() => [])
}
