import { asNumber, asObject, asText } from '../video/json-values.ts'

export interface Slide {
  number: number
  /** Position in the video from which the slide is shown. */
  seconds: number
  url: string
}

/** Returns the last slide that is due. Before the first one is due, it returns the first one. */
export function findSlide(slides: readonly Slide[], seconds: number): Slide | undefined {
  return slides.findLast((slide) => slide.seconds <= seconds) ?? slides[0]
}

/** Returns the slides sorted by time, without those that have no time or no picture yet. */
export function readSlides(json: unknown): Slide[] {
  return Object.entries(asObject(asObject(json)['slides']))
    .map(([number, slide]) => ({
      number: asNumber(number),
      seconds: readSeconds(asObject(slide)['seconds']),
      url: asText(asObject(slide)['url']),
    }))
    .filter((slide): slide is Slide => slide.seconds !== undefined && slide.url !== '')
    .sort((a, b) => a.seconds - b.seconds || a.number - b.number)
}

function readSeconds(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}
