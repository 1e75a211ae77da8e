import { asNumber, asObject, asText } from './json-values.ts'

export interface Slide {
  number: number
  /** Of the video, from which it shows. */
  seconds: number
  url: string
}

/** The last one whose time has come; before that, the first. */
export function slideAt(slides: readonly Slide[], seconds: number): Slide | undefined {
  return slides.findLast((slide) => slide.seconds <= seconds) ?? slides[0]
}

/** In the order of their times; those that have no time yet come at none. */
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
