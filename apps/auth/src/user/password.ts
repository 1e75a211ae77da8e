import { hash, verify } from '@node-rs/argon2'
import { createFairQueue } from '@vitascope/concurrency'
import { DomainError } from '@vitascope/errors'
import { PASSWORD_COST } from '@vitascope/security'

/** Returns the argon2id hash that is stored in place of a password. Throws PASSWORDS_BUSY if the queue is full. */
export type HashPassword = (password: string, signal: AbortSignal) => Promise<string>

/** Hashes that are computed, or passwords that are checked, at the same time. One takes about 30 ms of a core and 19 MiB of memory. */
const MAX_CONCURRENT = 2
const MAX_QUEUED = 8

/**
 * Creates a hasher that computes two hashes at once and queues eight. Further requests are rejected
 * immediately, so that many passwords do not block other work.
 */
export function createPasswordHasher(computeHash: (password: string) => Promise<string> = argon2id): HashPassword {
  const queue = createFairQueue({
    concurrency: MAX_CONCURRENT,
    maxQueued: MAX_QUEUED,
    rejection: () => new DomainError('exhausted', 'PASSWORDS_BUSY', 'too many passwords are being set; try again', { retryAfter: 1 }),
  })
  // All passwords share one queue key, so they are hashed in the order of their arrival.
  return (password, signal) => queue.run('', () => computeHash(password), signal)
}

/** The default algorithm of the package is argon2id. */
function argon2id(password: string): Promise<string> {
  return hash(password, PASSWORD_COST)
}

/** Returns whether a password belongs to a stored hash. Without a hash it takes the same time, and returns false. */
export type MatchesPassword = (passwordHash: string | undefined, password: string, signal: AbortSignal) => Promise<boolean>

/** Maximum number of sign-ins that wait for a check. Each check takes about 30 ms of a core. */
const MAX_QUEUED_CHECKS = 64

/** Creates a function that checks two passwords at once. It has its own queue, so that sign-ins do not block new passwords. */
export function createPasswordCheck(): MatchesPassword {
  const queue = createFairQueue({
    concurrency: MAX_CONCURRENT,
    maxQueued: MAX_QUEUED_CHECKS,
    rejection: () => new DomainError('exhausted', 'PASSWORDS_BUSY', 'too many passwords are being checked; try again', { retryAfter: 1 }),
  })
  const unusedHash = argon2id('')
  return (passwordHash, password, signal) =>
    queue.run('', async () => (await verify(passwordHash ?? (await unusedHash), password)) && passwordHash !== undefined, signal)
}
