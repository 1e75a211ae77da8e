import { DomainError } from '@vitascope/errors'

export interface LoadShed {
  /**
   * Counts a request of a caller in until `end` is called; refuses with 503 when too many are under way, and with 429 when too many of
   * these are the caller's own. `caller` is a key or an address group.
   */
  begin(kind: 'read' | 'write', caller: string): { end: () => void }
}

/** Writes still have room when reads are turned away: a quarter of what reads may take. */
const ROOM_FOR_WRITES = 0.25
/** Whoever asks for everything at once leaves three quarters of the places to all others. */
const SHARE_OF_ONE = 0.25

/** More than `most` requests at once would only wait for each other: those above it are told so at once. */
export function createLoadShed(most: number): LoadShed {
  let underWay = 0
  const ofCaller = new Map<string, number>()
  const bound = { read: most, write: Math.ceil(most * (1 + ROOM_FOR_WRITES)) }
  const boundOfOne = Math.ceil(most * SHARE_OF_ONE)
  return {
    begin(kind, caller) {
      const own = ofCaller.get(caller) ?? 0
      if (own >= boundOfOne) {
        const sentence = `you have ${own} requests under way, and more at once are not taken: wait for answers`
        throw new DomainError('exhausted', 'TOO_MANY_AT_ONCE', sentence, { retryAfter: 1 })
      }
      if (underWay >= bound[kind]) {
        throw new DomainError('unavailable', 'OVERLOADED', 'too many requests are under way: try again', { retryAfter: 1 })
      }
      underWay++
      ofCaller.set(caller, own + 1)
      let ended = false
      return {
        end() {
          if (ended) return
          ended = true
          underWay--
          const left = (ofCaller.get(caller) ?? 1) - 1
          if (left === 0) ofCaller.delete(caller)
          else ofCaller.set(caller, left)
        },
      }
    },
  }
}
