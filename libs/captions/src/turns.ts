import { DomainError } from '@vitascope/errors'

/** Runs the work of an organisation when its turn comes. */
export type InTurn = <T>(organisationId: string, work: () => Promise<T>, signal?: AbortSignal) => Promise<T>

export interface TurnBounds {
  atOnce: number
  /** How many may wait, and how many of one organisation. */
  waiting: number
  waitingEach: number
}

/** One organisation runs one at a time, so it never takes all places; who finds no place to wait is refused at once. */
export function createTurns({ atOnce, waiting: most, waitingEach }: TurnBounds): InTurn {
  const running = new Set<string>()
  const waiting: { organisationId: string; go: () => void }[] = []

  const isFree = ({ organisationId }: { organisationId: string }) => running.size < atOnce && !running.has(organisationId)
  const startNext = () => {
    for (let index = waiting.findIndex(isFree); index !== -1; index = waiting.findIndex(isFree)) {
      for (const turn of waiting.splice(index, 1)) {
        running.add(turn.organisationId)
        turn.go()
      }
    }
  }
  const turnOf = (organisationId: string, signal?: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      const go = () => {
        signal?.removeEventListener('abort', leave)
        resolve()
      }
      const turn = { organisationId, go }
      const leave = () => {
        waiting.splice(waiting.indexOf(turn), 1)
        reject(signal?.reason)
      }
      waiting.push(turn)
      signal?.addEventListener('abort', leave, { once: true })
      startNext()
    })

  return async (organisationId, work, signal) => {
    signal?.throwIfAborted()
    const own = waiting.filter((turn) => turn.organisationId === organisationId).length
    if (!isFree({ organisationId }) && (waiting.length >= most || own >= waitingEach)) {
      throw new DomainError('unavailable', 'CAPTIONS_BUSY', 'too many captions are being read just now: try again', { retryAfter: 1 })
    }
    await turnOf(organisationId, signal)
    try {
      return await work()
    } finally {
      running.delete(organisationId)
      startNext()
    }
  }
}
