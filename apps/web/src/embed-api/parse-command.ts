import type { CommandName, Commands, RefusalReason } from '@vitascope/player/protocol'
import { asObject } from '../video/json-values.ts'

export type Command = { [Name in CommandName]: { name: Name; id: number } & Commands[Name] }[CommandName]

export type ParsedMessage =
  | { kind: 'command'; command: Command }
  /** The page requests the event `ready`. */
  | { kind: 'hello' }
  | { kind: 'refused'; id: number | undefined; reason: RefusalReason }
  /** A message of another program. */
  | { kind: 'other' }

const MAX_VOLUME = 1
const [MIN_RATE, MAX_RATE] = [0.25, 2]
const MAX_TEXT = 4_000

/** Parses a message of the page. Every value is untrusted. */
export function parseMessage(data: unknown): ParsedMessage {
  const message = asObject(data)
  if (message['vitascope'] !== 1 || 'type' in message) return { kind: 'other' }
  if (message['command'] === 'hello') return { kind: 'hello' }
  const { id, command } = message
  if (typeof id !== 'number' || !Number.isFinite(id)) return { kind: 'refused', id: undefined, reason: 'bad_argument' }
  const parse = typeof command === 'string' && Object.hasOwn(parsers, command) ? parsers[command as CommandName] : undefined
  if (!parse) return { kind: 'refused', id, reason: 'unknown_command' }
  const parsed = parse(message)
  return parsed ? { kind: 'command', command: { ...parsed, id } as Command } : { kind: 'refused', id, reason: 'bad_argument' }
}

type Parsed<Name extends CommandName> = ({ name: Name } & Commands[Name]) | undefined

const parsers: { [Name in CommandName]: (message: Record<string, unknown>) => Parsed<Name> } = {
  play: () => ({ name: 'play' }),
  pause: () => ({ name: 'pause' }),
  getState: () => ({ name: 'getState' }),
  seek: ({ seconds }) => (isInRange(seconds, 0, Number.MAX_SAFE_INTEGER) ? { name: 'seek', seconds } : undefined),
  setRate: ({ rate }) => (isInRange(rate, MIN_RATE, MAX_RATE) ? { name: 'setRate', rate } : undefined),
  setVolume: ({ volume, muted }) => {
    if (!isInRange(volume, 0, MAX_VOLUME) || !(muted === undefined || typeof muted === 'boolean')) return undefined
    return { name: 'setVolume', volume, ...(muted !== undefined && { muted }) }
  },
  setTrack: ({ kind, track }) => {
    const known = (['captions', 'audio', 'quality'] as const).find((one) => one === kind)
    if (!known || !(track === null || isText(track))) return undefined
    return { name: 'setTrack', kind: known, track }
  },
  load: ({ videoId, token, autoplay }) => {
    if (!isText(videoId) || videoId === '' || !(token === undefined || isText(token))) return undefined
    if (!(autoplay === undefined || typeof autoplay === 'boolean')) return undefined
    return { name: 'load', videoId, ...(token !== undefined && { token }), ...(autoplay !== undefined && { autoplay }) }
  },
}

function isInRange(value: unknown, min: number, max: number): value is number {
  return typeof value === 'number' && value >= min && value <= max
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_TEXT
}
