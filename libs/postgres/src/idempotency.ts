import { DomainError } from '@vitascope/errors'
import type { Db, Transaction } from './db.ts'

/** Encodes and decodes a stored response. A codec for responses with secrets must encrypt them. */
export interface Codec<T> {
  encode(value: T): Uint8Array
  decode(bytes: Uint8Array): T
}

/**
 * Returns a codec that stores responses as JSON, without encryption. T must contain JSON values
 * only.
 */
export function jsonCodec<T>(): Codec<T> {
  return {
    encode: (value) => Buffer.from(JSON.stringify(value)),
    // The bytes come from `encode` only.
    decode: (bytes) => JSON.parse(Buffer.from(bytes).toString('utf8')) as T,
  }
}

interface Call {
  idempotency?: { key: string; fingerprint: string } | undefined
  signal?: AbortSignal | undefined
}

/**
 * Runs `change` in a transaction. With an idempotency key its response is stored in the same
 * transaction, and a later call with the key returns that response without running `change`. Keys
 * expire after 24 h.
 *
 * Throws IDEMPOTENCY_RUNNING while the first call still runs, and IDEMPOTENCY_MISMATCH if the key
 * was used with another payload.
 */
export function withIdempotency<T>(db: Db, call: Call, codec: Codec<T>, change: (tx: Transaction) => Promise<T>): Promise<T> {
  const { idempotency, signal } = call
  if (!idempotency) return db.transaction(change, signal)
  return db.transaction(async (tx) => {
    const [lock] = await tx.query<{ acquired: boolean }>('select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as acquired', [
      idempotency.key,
    ])
    if (!lock?.acquired) {
      throw new DomainError('conflict', 'IDEMPOTENCY_RUNNING', 'the first request with this idempotency key is still running; try again', {
        retryAfter: 1,
      })
    }
    const stored = await findStoredResponse(tx, idempotency)
    if (stored) return codec.decode(stored)
    const result = await change(tx)
    await tx.query(
      `insert into idempotency (key, fingerprint, response) values ($1, $2, $3)
       on conflict (key) do update set fingerprint = excluded.fingerprint, response = excluded.response, create_time = now()`,
      [idempotency.key, idempotency.fingerprint, Buffer.from(codec.encode(result))],
    )
    return result
  }, signal)
}

/**
 * Returns the response that `withIdempotency` stored for the key of this call, if any. Calls that
 * work for a long time before their first change use it to return early. Throws
 * IDEMPOTENCY_MISMATCH.
 */
export async function storedResponse<T>(db: Db, { idempotency, signal }: Call, codec: Codec<T>): Promise<T | undefined> {
  signal?.throwIfAborted()
  const stored = idempotency && (await findStoredResponse(db, idempotency))
  return stored && codec.decode(stored)
}

async function findStoredResponse(
  { query }: Pick<Db, 'query'>,
  { key, fingerprint }: NonNullable<Call['idempotency']>,
): Promise<Buffer | undefined> {
  const [stored] = await query<{ fingerprint: string; response: Buffer }>(
    `select fingerprint, response from idempotency where key = $1 and create_time > now() - interval '24 hours'`,
    [key],
  )
  if (stored && stored.fingerprint !== fingerprint) throw idempotencyMismatch()
  return stored?.response
}

/** Returns the error for an idempotency key that was used with another payload. */
export function idempotencyMismatch(): DomainError {
  return new DomainError('failed_precondition', 'IDEMPOTENCY_MISMATCH', 'this idempotency key was used with another payload; use a new key')
}
