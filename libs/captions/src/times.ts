import type { CaptionLine } from './caption-line.ts'
import { type Cursor, isDigit, passBlanks, passMark, readNumber } from './cursor.ts'

/** A begin and an end, in milliseconds. */
export type Times = Pick<CaptionLine, 'beginMs' | 'endMs'>

/** How a format writes its times. */
export interface TimesForm {
  /** `-->` between begin and end, hours may be left out, and a comma is as good as a dot; else `,` stands between. */
  arrow: boolean
  /** `.5` is half a second. Else it is 5 ms. */
  fraction: boolean
}

/** The times that stand at the beginning of a line; undefined where there are none. */
export function readTimes(cursor: Cursor, form: TimesForm): Times | undefined {
  passBlanks(cursor)
  const beginMs = readMoment(cursor, form)
  if (beginMs === -1) return undefined
  if (form.arrow) {
    passBlanks(cursor)
    if (!cursor.text.startsWith('-->', cursor.at)) return undefined
    cursor.at += 3
  } else if (!passMark(cursor, ',')) return undefined
  passBlanks(cursor)
  const endMs = readMoment(cursor, form)
  return endMs === -1 || isDigit(cursor.text.charCodeAt(cursor.at)) ? undefined : { beginMs, endMs }
}

/** Milliseconds; -1 for what is none. Minutes may pass 59. */
function readMoment(cursor: Cursor, { arrow, fraction }: TimesForm): number {
  const start = cursor.at
  const first = readNumber(cursor, 5)
  const firstDigits = cursor.at - start
  if (first === -1 || !passMark(cursor, ':')) return -1
  const middle = cursor.at
  const second = readNumber(cursor, arrow ? 4 : 2)
  const secondDigits = cursor.at - middle
  if (second === -1) return -1
  if (!passMark(cursor, ':')) {
    return arrow && firstDigits <= 4 && secondDigits <= 2 ? withFraction(cursor, first * 60 + second, arrow, fraction) : -1
  }
  const seconds = readNumber(cursor, 2)
  return seconds === -1 ? -1 : withFraction(cursor, (first * 60 + second) * 60 + seconds, arrow, fraction)
}

function withFraction(cursor: Cursor, seconds: number, comma: boolean, fraction: boolean): number {
  if (!passMark(cursor, '.') && !(comma && passMark(cursor, ','))) return -1
  const start = cursor.at
  const digits = readNumber(cursor, 3)
  if (digits === -1) return -1
  return seconds * 1_000 + (fraction ? digits * 10 ** (3 - (cursor.at - start)) : digits)
}
