import { addStyles } from '../dom/add-styles.ts'
import { createIcon, type IconName } from '../dom/icons.ts'
import { text } from '../language/text.ts'
import { type ConnectionRecovery, isOutageStatus } from '../recovery/connection-recovery.ts'
import { loadAfterOutage } from '../recovery/load-after-outage.ts'
import { findSlide, readSlides, type Slide } from './slide.ts'
import styles from './slide-panel.css?inline'

export interface SlideOptions {
  frame: HTMLElement
  video: HTMLVideoElement
  presentationId: string
  /** If false, the slides are hidden until the viewer shows them. */
  isShown: boolean
  /** Returns the URL of a picture with the viewer's token. */
  toMediaUrl: (media: string) => string
  recovery: ConnectionRecovery
}

/**
 * Shows the slides of a presentation next to its video, each at its time, until the signal aborts.
 * The viewer can step through them, choose one from the list, which seeks the video, and hide them.
 * Without slides, only the video is shown.
 */
export async function showSlides(options: SlideOptions, signal: AbortSignal): Promise<void> {
  const { frame, video, presentationId, recovery, toMediaUrl } = options
  const slides = await loadSlides(presentationId, recovery, signal)
  if (slides.length === 0 || signal.aborted) return
  addStyles(frame, 'slides', styles)
  const panel = document.createElement('aside')
  panel.className = 'slides'
  panel.setAttribute('aria-label', text('slides'))
  const picture = document.createElement('img')
  const seekTo = (slide: Slide | undefined) => {
    if (slide) video.currentTime = slide.seconds
  }
  const list = createSlideList(slides, toMediaUrl, seekTo)
  const current = () => slides.findIndex(({ number }) => String(number) === picture.dataset['number'])
  const previous = createButton('previous', text('previousSlide'), () => seekTo(slides[current() - 1]))
  const next = createButton('next', text('nextSlide'), () => seekTo(slides[current() + 1]))
  const counter = document.createElement('span')
  counter.className = 'counter'
  const bar = document.createElement('div')
  bar.className = 'slide-bar'
  const swap = createButton('swap', text('swapSlides'), () => setLayout(frame.dataset['slides'] === 'large' ? 'equal' : 'large'))
  bar.append(previous, counter, next, swap)
  panel.append(picture, list.element, bar)
  frame.after(panel)

  const toggle = createButton('slides', '', () => setLayout(frame.dataset['slides'] === 'hidden' ? 'equal' : 'hidden'))
  toggle.classList.add('tool')
  frame.querySelector('.row .settings-button')?.before(toggle)
  const setLayout = (layout: 'equal' | 'large' | 'hidden') => {
    frame.dataset['slides'] = layout
    panel.hidden = layout === 'hidden'
    setLabel(toggle, text(layout === 'hidden' ? 'showSlides' : 'hideSlides'))
  }
  setLayout(options.isShown ? 'equal' : 'hidden')

  const update = () => {
    const slide = findSlide(slides, video.currentTime)
    if (!slide || picture.dataset['number'] === String(slide.number)) return
    picture.dataset['number'] = String(slide.number)
    picture.src = toMediaUrl(slide.url)
    const position = slides.indexOf(slide)
    picture.alt = text('slide', { number: position + 1, count: slides.length })
    counter.textContent = `${position + 1} / ${slides.length}`
    // `disabled` would remove the focus from the button that was just pressed.
    previous.setAttribute('aria-disabled', String(position === 0))
    next.setAttribute('aria-disabled', String(position === slides.length - 1))
    list.markCurrent(position)
  }
  const reload = () => {
    delete picture.dataset['number']
    update()
  }
  picture.addEventListener('error', () => {
    recovery.waitForEnd(recovery.endedRecoveries, signal).then(reload, () => {})
  })
  for (const event of ['timeupdate', 'seeking', 'seeked']) video.addEventListener(event, update, { signal })
  const remove = () => {
    panel.remove()
    toggle.remove()
    delete frame.dataset['slides']
  }
  signal.addEventListener('abort', remove, { once: true })
  update()
}

function createSlideList(slides: readonly Slide[], toMediaUrl: (media: string) => string, choose: (slide: Slide) => void) {
  const element = document.createElement('ol')
  element.className = 'slide-list'
  const buttons = slides.map((slide, index) => {
    const button = document.createElement('button')
    button.type = 'button'
    const image = new Image()
    image.loading = 'lazy'
    let address = toMediaUrl(slide.url)
    image.src = address
    // The token may have been renewed before the browser requests the picture.
    image.addEventListener('error', () => {
      const current = toMediaUrl(slide.url)
      if (current === address) return
      address = current
      image.src = address
    })
    image.alt = text('slide', { number: index + 1, count: slides.length })
    button.append(image)
    button.addEventListener('click', () => choose(slide))
    const item = document.createElement('li')
    item.append(button)
    element.append(item)
    return button
  })
  return {
    element,
    markCurrent(position: number) {
      for (const [index, button] of buttons.entries()) {
        if (index === position) button.setAttribute('aria-current', 'true')
        else button.removeAttribute('aria-current')
      }
      const item = buttons[position]?.parentElement
      // Scrolls only the list. `scrollIntoView` would also scroll the page that embeds the player.
      if (item) element.scrollLeft = item.offsetLeft - (element.clientWidth - item.offsetWidth) / 2
    },
  }
}

function createButton(iconName: IconName, label: string, onClick: () => void): HTMLButtonElement {
  const button = document.createElement('button')
  button.type = 'button'
  setLabel(button, label)
  button.append(createIcon(iconName))
  button.addEventListener('click', onClick)
  return button
}

function setLabel(button: HTMLButtonElement, label: string): void {
  button.setAttribute('aria-label', label)
  button.title = label
}

/**
 * Loads the slides, after an outage if necessary. Returns an empty list on failure, because the
 * video plays without slides.
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
