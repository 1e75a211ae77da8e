import { readSlides, type Slide, slideAt } from './slide.ts'
import styles from './slide-panel.css?inline'
import type { Stage } from './stage.ts'
import { addStyles } from './stage-extras.ts'

/** Shows the slides of a presentation beside its video, each in its time, until the signal aborts. Without any the video stands alone. */
export async function showSlides(
  { frame, video }: Stage,
  presentationId: string,
  address: (media: string) => string,
  signal: AbortSignal,
): Promise<void> {
  const slides = await askSlides(presentationId, signal)
  if (slides.length === 0 || signal.aborted) return
  addStyles(frame, 'slides', styles)
  const panel = document.createElement('aside')
  panel.className = 'slides'
  const picture = document.createElement('img')
  panel.append(picture)
  frame.after(panel)
  frame.dataset['slides'] = 'true'
  const show = () => {
    const slide = slideAt(slides, video.currentTime)
    if (!slide || picture.dataset['number'] === String(slide.number)) return
    picture.dataset['number'] = String(slide.number)
    picture.src = address(slide.url)
    picture.alt = `Slide ${slide.number} of ${slides.length}`
  }
  for (const event of ['timeupdate', 'seeking', 'seeked']) video.addEventListener(event, show, { signal })
  const leave = () => {
    panel.remove()
    delete frame.dataset['slides']
  }
  signal.addEventListener('abort', leave, { once: true })
  show()
}

async function askSlides(presentationId: string, signal: AbortSignal): Promise<Slide[]> {
  try {
    const answer = await fetch(`/v2/presentation/${encodeURIComponent(presentationId)}`, {
      headers: { accept: 'application/json' },
      signal: AbortSignal.any([signal, AbortSignal.timeout(10_000)]),
    })
    return answer.ok ? readSlides(await answer.json()) : []
  } catch {
    // The video plays without them.
    return []
  }
}
