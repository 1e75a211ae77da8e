import type { Payload, Schemas } from '@vitascope/sdk'
import { formatSeconds, parseTimeCode } from '../player/time-code.ts'

/** Values of the form. Times are such as `00:01:02`. */
export interface OverlayForm {
  title: string
  description: string
  image_path: string
  link_text: string
  link_url: string
  start: string
  end: string
  atEnd: boolean
}

export const NEW_OVERLAY: OverlayForm = {
  ...{ title: '', description: '', image_path: '', link_text: '', link_url: '' },
  ...{ start: '', end: '', atEnd: false },
}
const MAX_SECONDS = 999 * 60 + 59

export function toOverlayForm({ show, ...overlay }: Schemas['VideoOverlay']): OverlayForm {
  const { title, description, image_path, link_text, link_url } = overlay
  const seconds = (text: string) => (text === '' ? '' : formatSeconds(parseTimeCode(text) ?? 0))
  const { start, end } = show.during
  return {
    ...{ title, description, image_path, link_text, link_url },
    ...{ start: seconds(start), end: seconds(end), atEnd: show.at_end === '1' },
  }
}

/** Returns the payload of a form, or undefined if only one of its two times is set, or if the end is before the start. */
export function toOverlayPayload({ start, end, atEnd, ...texts }: OverlayForm): Payload<'updateOverlay'> | undefined {
  const during = toRange(start, end)
  return during === undefined ? undefined : { ...texts, show: { at_end: atEnd, during } }
}

/** Returns null without times, and undefined for invalid ones. */
function toRange(start: string, end: string): { start: string; end: string } | null | undefined {
  if (start === '' && end === '') return null
  const [from, to] = [parseTimeCode(start), parseTimeCode(end)]
  if (from === undefined || to === undefined || from > to || to > MAX_SECONDS) return undefined
  const text = (seconds: number) => [Math.floor(seconds / 60), Math.floor(seconds % 60)].map((part) => `${part}`.padStart(2, '0')).join(':')
  return { start: text(from), end: text(to) }
}
