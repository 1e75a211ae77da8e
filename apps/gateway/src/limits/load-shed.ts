import { DomainError } from '@vitascope/errors'

/** A read can be asked again without harm, so it is turned away first when not all can be done. */
export type LoadKind = 'read' | 'write'

export interface LoadShed {
  /** True while a request of this kind would be refused, whoever asks. */
  isFull(kind: LoadKind): boolean
  /**
   * Counts a request of a caller in until `end` is called, which is told whether it was answered well; refuses with 503 when too many are
   * under way, and with 429 when too many of these are the caller's own. `caller` is a key or an address group.
   */
  begin(kind: LoadKind, caller: string): { end: (well: boolean) => void }
}

/** Writes still have room when reads are turned away: a quarter of the most that reads may take. */
const ROOM_FOR_WRITES = 0.25
/** Writes that wait for each other keep reads out of half of the places at most. */
const KEPT_FOR_READS = 0.5
/** Whoever asks for everything at once leaves three quarters of the places to all others. */
const SHARE_OF_ONE = 0.25
/** Reads that begin beside so few others show how long answers take when nobody waits for anybody. */
const LEISURE = 4
/** What a new duration counts in the mean of those at leisure. */
const WEIGHT = 1 / 16
const LOOK_MS = 250
/** While answers take no more than this times as long as at leisure, more at once are answered sooner; else they would wait for each other. */
const STILL_WELL = 2
const TOO_SLOW = 3
const STEP = 1.25

/** How many requests may be under way at once, writes not counted that come on top. */
export interface Places {
  /** When all are taken and answers are slow. */
  least: number
  /** Of a gateway that was not full a moment ago. */
  usual: number
  /** When all are taken and answers are as fast as ever. */
  most: number
}

/**
 * Requests above the places would only wait for each other: they are told so at once. The places become fewer, down to what brings a small
 * machine to its capacity, while all of them are taken and answers are slow; and more where they take hardly longer than at leisure, as with
 * services that are far away but not busy.
 */
export function createLoadShed({ least, usual, most }: Places, now = () => performance.now()): LoadShed {
  let places = usual
  const underWay = { read: 0, write: 0 }
  const ofCaller = new Map<string, number>()
  let leisureMs: number | undefined
  let look = { since: now(), full: false, answers: 0, ms: 0 }

  /** How many of the kind may be under way beside those of the other. */
  const bound = (kind: LoadKind) =>
    kind === 'read'
      ? places - Math.min(underWay.write, Math.floor(places * (1 - KEPT_FOR_READS)))
      : places - Math.min(underWay.read, places) + Math.ceil(most * ROOM_FOR_WRITES)
  const isFull = (kind: LoadKind) => {
    const full = underWay[kind] >= bound(kind)
    if (kind === 'read') look.full ||= full
    return full
  }
  /** While there is room for others too, one may hold what would be its share of the most places. */
  const hasTooMany = (own: number, kind: LoadKind) => {
    const among = bound(kind)
    const crowded = underWay[kind] >= among * (1 - SHARE_OF_ONE)
    return own >= Math.ceil(most * SHARE_OF_ONE) || (crowded && own >= Math.ceil(among * SHARE_OF_ONE))
  }

  function learn(ms: number, alone: boolean): void {
    if (alone) leisureMs = leisureMs === undefined ? ms : leisureMs + (ms - leisureMs) * WEIGHT
    look.answers++
    look.ms += ms
    if (now() - look.since < LOOK_MS) return
    const slowness = look.ms / look.answers / (leisureMs ?? Number.POSITIVE_INFINITY)
    if (!look.full) places += Math.ceil((usual - places) / 2)
    else if (slowness > TOO_SLOW) places = Math.max(least, Math.floor(places / STEP))
    else if (leisureMs !== undefined && slowness <= STILL_WELL) places = Math.min(most, Math.ceil(places * STEP))
    look = { since: now(), full: false, answers: 0, ms: 0 }
  }

  return {
    isFull,
    begin(kind, caller) {
      const own = ofCaller.get(caller) ?? 0
      if (hasTooMany(own, kind)) {
        const sentence = `you have ${own} requests under way, and more at once are not taken: wait for answers`
        throw new DomainError('exhausted', 'TOO_MANY_AT_ONCE', sentence, { retryAfter: 1 })
      }
      if (isFull(kind)) throw new DomainError('unavailable', 'OVERLOADED', OVERLOADED, { retryAfter: 1 })
      const alone = underWay.read + underWay.write < LEISURE
      const begun = now()
      underWay[kind]++
      ofCaller.set(caller, own + 1)
      let ended = false
      return {
        end(well) {
          if (ended) return
          ended = true
          underWay[kind]--
          const left = (ofCaller.get(caller) ?? 1) - 1
          if (left === 0) ofCaller.delete(caller)
          else ofCaller.set(caller, left)
          if (well && kind === 'read') learn(now() - begun, alone)
        },
      }
    },
  }
}

/** What whoever is turned away is told. */
export const OVERLOADED = 'too many requests are under way: try again'
