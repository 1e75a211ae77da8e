import { z } from 'zod'

/**
 * Cost class of a request: a cheap read, a write, or the start of long work. Player events
 * (`event`) have a separate budget, because many viewers can share one address, for example in a school.
 */
export type Cost = 'read' | 'write' | 'work' | 'event'

/** Cost classes that share one budget. */
export type SharedCost = Exclude<Cost, 'event'>

/** Rate limits of `/v2` and of the viewer paths. `LIMIT_DESCRIPTIONS` describes them. */
export interface Limits {
  key: number
  address: number
  failed: number
  events: number
  views: number
  event_mb: number
  media: number
  media_at_once: number
  unknown: number
  address_mb: number
  address_starts: number
  token_mb: number
  token_starts: number
  token_at_once: number
  video_mb: number
  video_starts: number
  video_at_once: number
  site_starts: number
  crawler_requests: number
  burst: number
  cost: Readonly<Record<SharedCost, number>>
}

/** Meaning of each limit, for the settings reference. */
export const LIMIT_DESCRIPTIONS: Readonly<Record<keyof Limits, string>> = {
  key: 'requests a second of one key',
  address: 'requests a second of one address without a valid key',
  failed: 'invalid keys a second of one address',
  events:
    'points a second of player events of one address or key: one for each event, and one more for each ten intervals in a request. Player events use no other budget, because many viewers can share the address of a school',
  views: 'new views of one video from one address in a minute',
  event_mb: 'megabytes that the events of one address add to the database of analytics in an hour',
  media: 'requests a second of one address for `/player`, `/o`, `/oembed` and `/delivery`',
  media_at_once: 'active requests of one address for `/player`, `/o`, `/oembed` and `/delivery`',
  unknown: 'requests a second of one address for ids that do not exist, to `/player`, `/o`, `/oembed` and `/delivery`',
  address_mb: 'megabytes a second of files that are sent to one address',
  address_starts:
    'starts of videos from one address in a minute. A start is a request for a master playlist, or for the first byte of an MP4 file or download',
  token_mb: 'megabytes a second of files that are sent for one playback token',
  token_starts: 'starts of videos with one playback token in a minute',
  token_at_once: 'active requests for files with one playback token',
  video_mb: 'megabytes a second of files of one video that are sent',
  video_starts: 'starts of one video in a minute',
  video_at_once: 'active requests for files of one video',
  site_starts: 'starts of one video in a minute by pages of one other site that load its files without the player page',
  crawler_requests: 'requests of crawlers for playlists, pictures and captions of one video in a minute',
  burst: 'burst window in seconds. All requests that are allowed within a window may arrive at the same time',
  cost: 'points that a request of each kind uses: a read, a write, or the start of long work',
}

export const DEFAULT_LIMITS: Limits = {
  ...{ key: 100, address: 50, failed: 10, burst: 4, cost: { read: 1, write: 1, work: 1 } },
  ...{ events: 500, views: 500, event_mb: 20 },
  ...{ media: 2_000, media_at_once: 3_000, unknown: 20 },
  ...{ address_mb: 500, address_starts: 5_000, token_mb: 200, token_starts: 2_000, token_at_once: 1_000 },
  ...{ video_mb: 4_000, video_starts: 100_000, video_at_once: 8_000, site_starts: 30_000, crawler_requests: 600 },
}

const positiveInt = z.int().min(1).max(1_000_000)
const { cost: defaultCost, ...defaultNumbers } = DEFAULT_LIMITS

/** All limits. A missing one has its default. */
const schema = z.strictObject({
  ...mapValues(defaultNumbers, (value) => positiveInt.default(value)),
  cost: z.strictObject(mapValues(defaultCost, (value) => positiveInt.default(value))).prefault({}),
})

/**
 * Parses `default`, `off`, or a JSON object with some of the numbers, such as `{"key": 200, "cost":
 * {"work": 10}}`. Missing numbers keep their default.
 */
export function parseLimits(text: string): { limits: Limits | 'off'; problems?: never } | { problems: string[]; limits?: never } {
  if (text === 'off') return { limits: 'off' }
  if (text === 'default') return { limits: DEFAULT_LIMITS }
  const parsed = schema.safeParse(parseJson(text))
  if (!parsed.success) return { problems: parsed.error.issues.flatMap(listProblems) }
  const problems = tooExpensive(parsed.data)
  return problems.length > 0 ? { problems } : { limits: parsed.data }
}

/**
 * Returns a message for each cost that exceeds the smallest budget. Such a request could never succeed.
 */
function tooExpensive({ key, address, burst, cost }: Limits): string[] {
  const capacity = Math.min(key, address) * burst
  return Object.entries(cost)
    .filter(([, points]) => points > capacity)
    .map(([name]) => `cost.${name} must not be above ${capacity}, the smallest budget (rate × burst)`)
}

function listProblems(issue: z.core.$ZodIssue): string[] {
  const { path } = issue
  if (issue.code === 'unrecognized_keys') {
    const knownNames = Object.keys(path.length === 0 ? DEFAULT_LIMITS : DEFAULT_LIMITS.cost).join(', ')
    return issue.keys.map((key) => `${[...path, key].join('.')} is unknown; known are ${knownNames}`)
  }
  if (path.length === 0) return ['must be default, off, or a JSON object such as {"key": 200}']
  return [`${path.join('.')} must be ${issue.path.length === 1 && path[0] === 'cost' ? 'an object' : 'an integer from 1 to 1000000'}`]
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function mapValues<Names extends string, Value>(
  values: Readonly<Record<Names, number>>,
  map: (value: number) => Value,
): Record<Names, Value> {
  // Object.entries keeps the names.
  return Object.fromEntries(Object.entries<number>(values).map(([name, value]) => [name, map(value)])) as Record<Names, Value>
}
