import { asFlag, asNumber, asObject, asText } from './json-values.ts'

/**
 * A card over the picture. The `code` field of an overlay is ignored: this player does not execute
 * it.
 */
export interface Overlay {
  title: string
  description: string
  /** URL on this host; empty for none. */
  image: string
  linkText: string
  /** An http or https URL; empty for none. */
  link: string
  language: string
  atEnd: boolean
  /** Seconds; undefined if the overlay is not shown during playback. */
  during: { start: number; end: number } | undefined
  /** Pixels; 0 for the natural size. */
  width: number
}

export function readOverlays(json: unknown, page: string): Overlay[] {
  return (Array.isArray(json) ? json : []).map((entry: unknown) => readOverlay(asObject(entry), page))
}

function readOverlay(overlay: Record<string, unknown>, page: string): Overlay {
  const show = asObject(overlay['show'])
  const during = asObject(show['during'])
  const [start, end] = [secondsOf(during['start']), secondsOf(during['end'])]
  return {
    title: asText(overlay['title']),
    description: asText(overlay['description']),
    image: imageOf(asText(overlay['image_path']), page),
    linkText: asText(overlay['link_text']),
    link: linkOf(asText(overlay['link_url'])),
    language: asText(overlay['language']),
    atEnd: asFlag(show['at_end']),
    during: start === undefined || end === undefined ? undefined : { start, end },
    width: asNumber(overlay['width']),
  }
}

/**
 * Returns the overlays that are shown at a position, each for at least one second, to a viewer who reads
 * these languages.
 */
export function shownOverlays(
  overlays: readonly Overlay[],
  { seconds, ended }: { seconds: number; ended: boolean },
  languages: readonly string[],
): Overlay[] {
  const isDue = ({ atEnd, during }: Overlay) =>
    ended ? atEnd : during !== undefined && seconds >= during.start && seconds < Math.max(during.end, during.start + 1)
  const isReadable = ({ language }: Overlay) => language === '' || languages.some((read) => primarySubtag(read) === primarySubtag(language))
  return overlays.filter((overlay) => isDue(overlay) && isReadable(overlay))
}

/** Parses `MM:SS`. */
function secondsOf(time: unknown): number | undefined {
  const [, minutes, seconds] = /^(\d{1,4}):(\d{2})$/.exec(asText(time)) ?? []
  return minutes === undefined ? undefined : Number(minutes) * 60 + Number(seconds)
}

function linkOf(address: string): string {
  return URL.canParse(address) && /^https?:$/.test(new URL(address).protocol) ? new URL(address).href : ''
}

/** Returns '' for images of other hosts, which the Content-Security-Policy of the page blocks. */
function imageOf(path: string, page: string): string {
  if (path === '' || !URL.canParse(path, page)) return ''
  const image = new URL(path, page)
  return image.origin === new URL(page).origin ? image.href : ''
}

function primarySubtag(language: string): string {
  return language.toLowerCase().split('-', 1)[0] ?? ''
}
