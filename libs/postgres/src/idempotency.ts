import { DomainError } from '@vitascope/errors'
import type { Db, Transaction } from './db.ts'

/** How an answer is kept; secrets in it are encrypted by the codec. */
export interface Codec<T> {
  encode(value: T): Uint8Array
  decode(bytes: Uint8Array): T
}

/** Answers as JSON; T holds JSON values only. */
export function jsonCodec<T>(): Codec<T> {
  return {
    encode: (value) => Buffer.from(JSON.stringify(value)),
    // Only `encode` wrote it.
    decode: (bytes) => JSON.parse(Buffer.from(bytes).toString('utf8')) as T,
  }
}

interface Call {
  idempotency?: { key: string; fingerprint: string } | undefined
  signal?: AbortSignal | undefined
}

/**
 * Runs `change` in a transaction; with an idempotency key its answer is stored in the same transaction, and the next call with the key
 * gets that answer without another run. Keys hold for 24 h.
 *
 * Refuses with IDEMPOTENCY_RUNNING while the first call still runs, and with IDEMPOTENCY_MISMATCH when the key came with another payload.
 */
export function once<T>(db: Db, call: Call, codec: Codec<T>, change: (tx: Transaction) => Promise<T>): Promise<T> {
  const { idempotency, signal } = call
  if (!idempotency) return db.transaction(change, signal)
  return db.transaction(async (tx) => {
    const [lock] = await tx.query<{ held: boolean }>('select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as held', [idempotency.key])
    if (!lock?.held) {
      throw new DomainError('conflict', 'IDEMPOTENCY_RUNNING', 'the first request with this idempotency key still runs: try again', {
        retryAfter: 1,
      })
    }
    const known = await storedAnswer(tx, idempotency)
    if (known) return codec.decode(known)
    const answer = await change(tx)
    await tx.query(
      `insert into idempotency (key, fingerprint, response) values ($1, $2, $3)
       on conflict (key) do update set fingerprint = excluded.fingerprint, response = excluded.response, create_time = now()`,
      [idempotency.key, idempotency.fingerprint, Buffer.from(codec.encode(answer))],
    )
    return answer
  }, signal)
}

/**
 * The answer that `once` stored for the key of this call, if it did: for calls that have long work to do before they change anything.
 * Refuses with IDEMPOTENCY_MISMATCH.
 */
export async function answeredBefore<T>(db: Db, { idempotency, signal }: Call, codec: Codec<T>): Promise<T | undefined> {
  signal?.throwIfAborted()
  const known = idempotency && (await storedAnswer(db, idempotency))
  return known && codec.decode(known)
}

async function storedAnswer(
  { query }: Pick<Db, 'query'>,
  { key, fingerprint }: NonNullable<Call['idempotency']>,
): Promise<Buffer | undefined> {
  const [known] = await query<{ fingerprint: string; response: Buffer }>(
    `select fingerprint, response from idempotency where key = $1 and create_time > now() - interval '24 hours'`,
    [key],
  )
  if (known && known.fingerprint !== fingerprint) {
    throw new DomainError('refused', 'IDEMPOTENCY_MISMATCH', 'this idempotency key was used with another payload: choose a new key')
  }
  return known?.response
}

/** Removes the keys that no longer hold. */
export async function sweepIdempotency(db: Db): Promise<void> {
  await db.query(`delete from idempotency where create_time < now() - interval '24 hours'`)
}
