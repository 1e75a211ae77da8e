import type { Logger } from '@vitascope/telemetry'
import type { TusStore, TusUpload } from './tus-store.ts'

const RENEW_MS = 1_000

export interface RenewedLease {
  /** Aborts when the lease is over or another request has requested it. */
  lost: AbortSignal
  /** Ends the renewals. No renewal is pending afterwards. */
  stop(): Promise<void>
}

/**
 * Renews the lease of an upload every second. A renewal that fails is logged and repeated: the
 * bytes received in the meantime count only if no other request has taken the lease.
 */
export function renewLease(
  { uploads, log }: { uploads: Pick<TusStore, 'extendLease'>; log: Pick<Logger, 'warn'> },
  { uploadId, fence }: Pick<TusUpload, 'uploadId' | 'fence'>,
  everyMs: number = RENEW_MS,
): RenewedLease {
  const lost = new AbortController()
  let pending: Promise<void> | undefined
  const renew = async () => {
    try {
      if (!(await uploads.extendLease(uploadId, fence))) lost.abort()
    } catch (error) {
      log.warn({ err: error, upload_id: uploadId }, 'renewing the lease of an upload failed; retrying')
    }
  }
  const timer = setInterval(() => {
    pending ??= renew().finally(() => {
      pending = undefined
    })
  }, everyMs)
  return {
    lost: lost.signal,
    async stop() {
      clearInterval(timer)
      await pending
    },
  }
}
