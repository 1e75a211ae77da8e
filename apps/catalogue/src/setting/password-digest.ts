import { hash, verify } from '@node-rs/argon2'
import { DomainError } from '@vitascope/errors'

/**
 * Makes and compares the argon2id texts that are stored in place of digests of passwords. Each is work of a group of callers: groups take
 * turns, so that none keeps another's passwords from being checked or set.
 */
export interface PasswordDigests {
  make(sha1: string, group: string, signal?: AbortSignal): Promise<string>
  matches(stored: string, sha1: string, group: string, signal?: AbortSignal): Promise<boolean>
}

/** Each takes a core for some 30 ms and 19 MiB. */
const AT_ONCE = 2
const WAITING = { ofGroup: 4, inAll: 32 }

/** Two derivations run at once, some wait, and more are refused without waiting: guests try passwords, and hold up nothing else by it. */
export function createPasswordDigests(inTurn = createTurns(AT_ONCE, WAITING)): PasswordDigests {
  return {
    // OWASP's parameters: 19 MiB, two passes, one lane. The package's default algorithm is argon2id.
    make: (sha1, group, signal) => inTurn(group, () => hash(sha1, { memoryCost: 19_456, timeCost: 2, parallelism: 1 }), signal),
    matches: (stored, sha1, group, signal) => inTurn(group, () => verify(stored, sha1), signal),
  }
}

/** Runs work of a group when its turn comes. */
export type InTurn = <T>(group: string, work: () => Promise<T>, signal?: AbortSignal) => Promise<T>

interface Group {
  running: number
  waiting: (() => void)[]
}

/**
 * Of each group the first come is the first served. A place that comes free goes to the group whose turn is the longest ago, and before all to
 * one that runs nothing: while others wait, a group has one place.
 */
export function createTurns(atOnce: number, most: { ofGroup: number; inAll: number }): InTurn {
  /** Those that run or wait, the one whose turn is the longest ago first. */
  const groups = new Map<string, Group>()
  let running = 0
  let waiting = 0

  const started = (name: string, group: Group) => {
    group.running++
    running++
    toEnd(name, group)
  }
  const toEnd = (name: string, group: Group) => {
    groups.delete(name)
    if (group.running > 0 || group.waiting.length > 0) groups.set(name, group)
  }
  const turn = (name: string, signal?: AbortSignal): Promise<void> => {
    const group = groups.get(name) ?? { running: 0, waiting: [] }
    if (running < atOnce) {
      started(name, group)
      return Promise.resolve()
    }
    if (group.waiting.length >= most.ofGroup || waiting >= most.inAll) {
      throw new DomainError('exhausted', 'PASSWORDS_BUSY', 'too many passwords are being checked or set: try again', { retryAfter: 1 })
    }
    groups.set(name, group)
    return new Promise((resolve, reject) => {
      const go = () => {
        signal?.removeEventListener('abort', leave)
        resolve()
      }
      const leave = () => {
        group.waiting.splice(group.waiting.indexOf(go), 1)
        waiting--
        if (group.running === 0 && group.waiting.length === 0) groups.delete(name)
        reject(signal?.reason)
      }
      group.waiting.push(go)
      waiting++
      signal?.addEventListener('abort', leave, { once: true })
    })
  }
  const done = (name: string) => {
    const group = groups.get(name)
    if (!group) throw new Error(`the group ${name} went away while it ran`)
    group.running--
    running--
    toEnd(name, group)
    const eager = [...groups].filter(([, { waiting }]) => waiting.length > 0)
    const [next, other] = eager.find(([, { running }]) => running === 0) ?? eager[0] ?? []
    const go = other?.waiting.shift()
    if (next === undefined || !other || !go) return
    waiting--
    started(next, other)
    go()
  }

  return async (group, work, signal) => {
    signal?.throwIfAborted()
    await turn(group, signal)
    try {
      return await work()
    } finally {
      done(group)
    }
  }
}
