import { hash } from '@node-rs/argon2'
import { DomainError } from '@vitascope/errors'

/** Makes the argon2id text that is stored in place of a password. */
export type HashPassword = (password: string, signal: AbortSignal) => Promise<string>

/** Each takes a core for some 30 ms and 19 MiB. */
const AT_ONCE = 2
const QUEUE = 8

/** Runs two at once; eight wait; more are refused at once, so that a flood of passwords holds up nothing else. */
export function createPasswordHasher(work: (password: string) => Promise<string> = argon2id): HashPassword {
  let running = 0
  const waiting: (() => void)[] = []

  const turn = (signal: AbortSignal): Promise<void> => {
    if (running < AT_ONCE) {
      running++
      return Promise.resolve()
    }
    if (waiting.length >= QUEUE) {
      throw new DomainError('exhausted', 'PASSWORDS_BUSY', 'too many passwords are being set: try again', { retryAfter: 1 })
    }
    return new Promise((resolve, reject) => {
      const go = () => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const leave = () => {
        waiting.splice(waiting.indexOf(go), 1)
        reject(signal.reason)
      }
      waiting.push(go)
      signal.addEventListener('abort', leave, { once: true })
    })
  }
  // A place that is handed on stays counted.
  const done = () => {
    const next = waiting.shift()
    if (next) next()
    else running--
  }

  return async (password, signal) => {
    signal.throwIfAborted()
    await turn(signal)
    try {
      return await work(password)
    } finally {
      done()
    }
  }
}

/** OWASP's parameters: 19 MiB, two passes, one lane. The package's default algorithm is argon2id. */
function argon2id(password: string): Promise<string> {
  return hash(password, { memoryCost: 19_456, timeCost: 2, parallelism: 1 })
}
