import { asFlag, asNumber, asObject, asText } from '../video/json-values.ts'

/**
 * A card over the picture. The field `link_javascript_code` of an overlay is ignored: this player
 * does not execute it.
 */
export interface Overlay {
  title: string
  description: string
  /** URL on this host. It is empty if the card has no image. */
  image: string
  linkText: string
  /** HTTP or HTTPS URL. It is empty if the card has no link. */
  link: string
  language: string
  atEnd: boolean
  /** Range in seconds. It is undefined if the overlay is not shown during playback. */
  during: { start: number; end: number } | undefined
  /** Width of the card in pixels. 0 for the default width. */
  width: number
}

export function readOverlays(json: unknown, page: string): Overlay[] {
  return (Array.isArray(json) ? json : []).map((entry: unknown) => readOverlay(asObject(entry), page))
}

function readOverlay(overlay: Record<string, unknown>, page: string): Overlay {
  const show = asObject(overlay['show'])
  const during = asObject(show['during'])
  const [start, end] = [parseSeconds(during['start']), parseSeconds(during['end'])]
  return {
    title: asText(overlay['title']),
    description: asText(overlay['description']),
    image: toImageUrl(asText(overlay['image_path']), page),
    linkText: asText(overlay['link_text']),
    link: toLinkUrl(asText(overlay['link_url'])),
    language: asText(overlay['language']),
    atEnd: asFlag(show['at_end']),
    during: start === undefined || end === undefined ? undefined : { start, end },
    width: asNumber(overlay['width']),
  }
}

/**
 * Returns the overlays that are shown at a position, each for at least one second, to a viewer who
 * reads these languages.
 */
export function filterDueOverlays(
  overlays: readonly Overlay[],
  { seconds, hasEnded }: { seconds: number; hasEnded: boolean },
  languages: readonly string[],
): Overlay[] {
  const isDue = ({ atEnd, during }: Overlay) =>
    hasEnded ? atEnd : during !== undefined && seconds >= during.start && seconds < Math.max(during.end, during.start + 1)
  const isReadable = ({ language }: Overlay) =>
    language === '' || languages.some((readable) => readPrimarySubtag(readable) === readPrimarySubtag(language))
  return overlays.filter((overlay) => isDue(overlay) && isReadable(overlay))
}

/** Parses `MM:SS`. */
function parseSeconds(time: unknown): number | undefined {
  const [, minutes, seconds] = /^(\d{1,4}):(\d{2})$/.exec(asText(time)) ?? []
  return minutes === undefined ? undefined : Number(minutes) * 60 + Number(seconds)
}

function toLinkUrl(address: string): string {
  return URL.canParse(address) && /^https?:$/.test(new URL(address).protocol) ? new URL(address).href : ''
}

/**
 * Returns the URL of an image, or an empty string for images of other hosts, which the
 * Content-Security-Policy of the page blocks.
 */
function toImageUrl(path: string, page: string): string {
  if (path === '' || !URL.canParse(path, page)) return ''
  const image = new URL(path, page)
  return image.origin === new URL(page).origin ? image.href : ''
}

function readPrimarySubtag(language: string): string {
  return language.toLowerCase().split('-', 1)[0] ?? ''
}
