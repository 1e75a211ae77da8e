import { hash, verify } from '@node-rs/argon2'
import { createFairQueue, type FairQueue } from '@vitascope/concurrency'
import { DomainError } from '@vitascope/errors'
import { PASSWORD_COST } from '@vitascope/security'

/**
 * Creates and verifies the argon2id hashes that are stored in place of SHA-1 digests of passwords.
 * Each group of callers has a limited part of the queue, so that no group can block another.
 * Throws PASSWORDS_BUSY if the queue is full.
 */
export interface PasswordHasher {
  hash(sha1: string, group: string, signal?: AbortSignal): Promise<string>
  matches(stored: string, sha1: string, group: string, signal?: AbortSignal): Promise<boolean>
}

/** One hash takes about 30 ms of CPU and 19 MiB. The limits are low, because guests can send passwords. */
const BOUNDS = { concurrency: 2, maxQueued: 32, maxQueuedPerKey: 4 }

export function createPasswordHasher(queue: FairQueue = createFairQueue({ ...BOUNDS, rejection: passwordsBusy })): PasswordHasher {
  return {
    // The default algorithm of the package is argon2id.
    hash: (sha1, group, signal) => queue.run(group, () => hash(sha1, PASSWORD_COST), signal),
    matches: (stored, sha1, group, signal) => queue.run(group, () => verify(stored, sha1), signal),
  }
}

function passwordsBusy(): DomainError {
  return new DomainError('exhausted', 'PASSWORDS_BUSY', 'too many passwords are being checked or set; try again', { retryAfter: 1 })
}
