import type { Cost } from '../route.ts'

/** The classes that share one budget. */
export type SharedCost = Exclude<Cost, 'event'>

/** How much may be asked of `/v2`. */
export interface Limits {
  /** Requests a second of one key. */
  key: number
  /** Requests a second of one address without a good key. */
  address: number
  /** Keys a second that one address may send and that turn out bad. */
  failed: number
  /** Requests a second with what players tell, of one address or key: a budget beside the others, since a school has one address. */
  events: number
  /** How many times a second's worth may come at once. */
  burst: number
  /** What a request of each cost class takes from its caller's budget. */
  cost: Readonly<Record<SharedCost, number>>
}

export const DEFAULT_LIMITS: Limits = { key: 100, address: 50, failed: 10, events: 500, burst: 4, cost: { read: 1, write: 1, work: 1 } }

const NUMBERS = ['key', 'address', 'failed', 'events', 'burst'] as const
const COSTS = ['read', 'write', 'work'] as const

/** Reads `default`, `off`, or a JSON object with some of the numbers, `{"key": 200, "cost": {"work": 10}}`; the others keep their default. */
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
      (name) => `${name} must be a whole number from 1 to 1000000`,
    ),
  ]
  if (problems.length > 0) return { problems }
  const dear = tooDear({ ...DEFAULT_LIMITS, ...given, cost: { ...DEFAULT_LIMITS.cost, ...cost } } as Limits)
  if (dear.length > 0) return { problems: dear }
  // Each name of both is a limit, each value a whole number: checked above.
  return { limits: { ...DEFAULT_LIMITS, ...given, cost: { ...DEFAULT_LIMITS.cost, ...cost } } as Limits }
}

/** What costs more than a whole budget could never be asked. */
function tooDear({ key, address, burst, cost }: Limits): string[] {
  const most = Math.min(key, address) * burst
  return COSTS.filter((name) => cost[name] > most).map(
    (name) => `cost.${name} must not be above ${most}, the smallest budget (rate × burst)`,
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
