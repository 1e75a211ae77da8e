import { asFlag, asNumber, asObject, asText } from './json-values.ts'

/** A card over the picture. The code that may come with one is not read: no player of ours runs it. */
export interface Overlay {
  title: string
  description: string
  /** On this host; empty for none. */
  image: string
  linkText: string
  /** http or https; empty for none. */
  link: string
  language: string
  atEnd: boolean
  /** Seconds; undefined when it does not show while the video plays. */
  during: { start: number; end: number } | undefined
  /** Pixels; 0 for its own size. */
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

/** Those that show at a moment, for a second at least, to a viewer who reads these languages. */
export function shownOverlays(
  overlays: readonly Overlay[],
  { seconds, ended }: { seconds: number; ended: boolean },
  languages: readonly string[],
): Overlay[] {
  const isNow = ({ atEnd, during }: Overlay) =>
    ended ? atEnd : during !== undefined && seconds >= during.start && seconds < Math.max(during.end, during.start + 1)
  const isRead = ({ language }: Overlay) => language === '' || languages.some((read) => primary(read) === primary(language))
  return overlays.filter((overlay) => isNow(overlay) && isRead(overlay))
}

/** `MM:SS`. */
function secondsOf(time: unknown): number | undefined {
  const [, minutes, seconds] = /^(\d{1,4}):(\d{2})$/.exec(asText(time)) ?? []
  return minutes === undefined ? undefined : Number(minutes) * 60 + Number(seconds)
}

function linkOf(address: string): string {
  return URL.canParse(address) && /^https?:$/.test(new URL(address).protocol) ? new URL(address).href : ''
}

/** The page's policy lets no other host's pictures in. */
function imageOf(path: string, page: string): string {
  if (path === '' || !URL.canParse(path, page)) return ''
  const image = new URL(path, page)
  return image.origin === new URL(page).origin ? image.href : ''
}

function primary(language: string): string {
  return language.toLowerCase().split('-', 1)[0] ?? ''
}
