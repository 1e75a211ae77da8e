import { hash, verify } from '@node-rs/argon2'
import { DomainError } from '@vitascope/errors'

/** Makes and compares the argon2id texts that are stored in place of digests of passwords. */
export interface PasswordDigests {
  make(sha1: string, signal?: AbortSignal): Promise<string>
  matches(stored: string, sha1: string, signal?: AbortSignal): Promise<boolean>
}

/** Each takes a core for some 30 ms and 19 MiB. */
const AT_ONCE = 2
const QUEUE = 8

/** Two derivations run at once, eight wait, and more are refused without waiting: guests try passwords, and hold up nothing else by it. */
export function createPasswordDigests(inTurn = createTurns(AT_ONCE, QUEUE)): PasswordDigests {
  return {
    // OWASP's parameters: 19 MiB, two passes, one lane. The package's default algorithm is argon2id.
    make: (sha1, signal) => inTurn(() => hash(sha1, { memoryCost: 19_456, timeCost: 2, parallelism: 1 }), signal),
    matches: (stored, sha1, signal) => inTurn(() => verify(stored, sha1), signal),
  }
}

/** Runs work when its turn comes. */
export type InTurn = <T>(work: () => Promise<T>, signal?: AbortSignal) => Promise<T>

export function createTurns(atOnce: number, queue: number): InTurn {
  let running = 0
  const waiting: (() => void)[] = []

  const turn = (signal?: AbortSignal): Promise<void> => {
    if (running < atOnce) {
      running++
      return Promise.resolve()
    }
    if (waiting.length >= queue) {
      throw new DomainError('exhausted', 'PASSWORDS_BUSY', 'too many passwords are being checked or set: try again', { retryAfter: 1 })
    }
    return new Promise((resolve, reject) => {
      const go = () => {
        signal?.removeEventListener('abort', leave)
        resolve()
      }
      const leave = () => {
        waiting.splice(waiting.indexOf(go), 1)
        reject(signal?.reason)
      }
      waiting.push(go)
      signal?.addEventListener('abort', leave, { once: true })
    })
  }
  // A place that is handed on stays counted.
  const done = () => {
    const next = waiting.shift()
    if (next) next()
    else running--
  }

  return async (work, signal) => {
    signal?.throwIfAborted()
    await turn(signal)
    try {
      return await work()
    } finally {
      done()
    }
  }
}
