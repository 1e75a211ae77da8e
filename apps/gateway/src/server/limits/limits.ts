/**
 * Cost class of a request: a cheap read, a write, or the start of long work. Player events
 * (`event`) have a separate budget, because a school behind one address is not one caller.
 */
export type Cost = 'read' | 'write' | 'work' | 'event'

/** Cost classes that share one budget. */
export type SharedCost = Exclude<Cost, 'event'>

/** Rate limits of `/v2` and of the viewer paths. */
export interface Limits {
  /** Requests per second of one key. */
  key: number
  /** Requests per second of one address without a valid key. */
  address: number
  /** Invalid keys per second that one address may send. */
  failed: number
  /**
   * Player events per second of one address or key, in points. The budget is separate from the
   * others, because a whole school can share one address.
   */
  events: number
  /** New views of one video per minute from one address. */
  views: number
  /** Megabytes that the events of one address may add to the database per hour. */
  event_mb: number
  /** Requests per second of one address for `/player` and `/delivery`. */
  media: number
  /** Concurrent requests of one address for `/player` and `/delivery`. */
  media_at_once: number
  /** Unknown ids per second that one address may request from `/player` and `/delivery`. */
  unknown: number
  /** Length of the budget window in seconds. The whole budget of a window may be used at once. */
  burst: number
  /** Points that a request of each cost class consumes. */
  cost: Readonly<Record<SharedCost, number>>
}

export const DEFAULT_LIMITS: Limits = {
  ...{ key: 100, address: 50, failed: 10, burst: 4, cost: { read: 1, write: 1, work: 1 } },
  ...{ events: 500, views: 500, event_mb: 20 },
  ...{ media: 2_000, media_at_once: 3_000, unknown: 20 },
}

const NUMBERS = ['key', 'address', 'failed', 'events', 'views', 'event_mb', 'media', 'media_at_once', 'unknown', 'burst'] as const
const COSTS = ['read', 'write', 'work'] as const

/**
 * Parses `default`, `off`, or a JSON object with some of the numbers, such as `{"key": 200, "cost":
 * {"work": 10}}`. Missing numbers keep their default.
 */
export function parseLimits(text: string): { limits: Limits | 'off'; problems?: never } | { problems: string[]; limits?: never } {
  if (text === 'off') return { limits: 'off' }
  if (text === 'default') return { limits: DEFAULT_LIMITS }
  const given = parseObject(text)
  if (!given) return { problems: ['must be default, off, or a JSON object such as {"key": 200}'] }
  const cost = given['cost'] === undefined ? {} : asObject(given['cost'])
  const problems = [
    ...unknownNames(given, [...NUMBERS, 'cost']).map((name) => `${name} is no limit (there are ${NUMBERS.join(', ')} and cost)`),
    ...(cost
      ? unknownNames(cost, COSTS).map((name) => `cost.${name} is no cost class (there are ${COSTS.join(', ')})`)
      : ['cost must be an object']),
    ...[...badNumbers(given, NUMBERS), ...badNumbers(cost ?? {}, COSTS).map((name) => `cost.${name}`)].map(
      (name) => `${name} must be an integer from 1 to 1000000`,
    ),
  ]
  if (problems.length > 0) return { problems }
  const dear = tooDear({ ...DEFAULT_LIMITS, ...given, cost: { ...DEFAULT_LIMITS.cost, ...cost } } as Limits)
  if (dear.length > 0) return { problems: dear }
  // The checks above ensure that each name is a limit and each value a whole number.
  return { limits: { ...DEFAULT_LIMITS, ...given, cost: { ...DEFAULT_LIMITS.cost, ...cost } } as Limits }
}

/**
 * Returns a message for each cost that exceeds a whole budget. Such a request could never succeed.
 */
function tooDear({ key, address, burst, cost }: Limits): string[] {
  const capacity = Math.min(key, address) * burst
  return COSTS.filter((name) => cost[name] > capacity).map(
    (name) => `cost.${name} must not be above ${capacity}, the smallest budget (rate × burst)`,
  )
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    return asObject(JSON.parse(text))
  } catch {
    return undefined
  }
}

function asObject(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
}

function unknownNames(given: Record<string, unknown>, known: readonly string[]): string[] {
  return Object.keys(given).filter((name) => !known.includes(name))
}

function badNumbers(given: Record<string, unknown>, names: readonly string[]): string[] {
  return names.filter(
    (name) => given[name] !== undefined && !(Number.isInteger(given[name]) && Number(given[name]) >= 1 && Number(given[name]) <= 1e6),
  )
}
