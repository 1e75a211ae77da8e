import { DomainError } from '@vitascope/errors'

export interface LoadShed {
  /** Counts a request in until `end` is called; refuses with 503 when too many are under way. */
  begin(kind: 'read' | 'write'): { end: () => void }
}

/** Writes still have room when reads are turned away: a quarter of what reads may take. */
const ROOM_FOR_WRITES = 0.25

/** More than `most` requests at once would only wait for each other: those above it are told so at once. */
export function createLoadShed(most: number): LoadShed {
  let underWay = 0
  const bound = { read: most, write: Math.ceil(most * (1 + ROOM_FOR_WRITES)) }
  return {
    begin(kind) {
      if (underWay >= bound[kind]) {
        throw new DomainError('unavailable', 'OVERLOADED', 'too many requests are under way: try again', { retryAfter: 1 })
      }
      underWay++
      let ended = false
      return {
        end() {
          if (!ended) underWay--
          ended = true
        },
      }
    },
  }
}
