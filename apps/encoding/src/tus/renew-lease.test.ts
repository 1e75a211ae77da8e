import { expect, test } from '@jest/globals'
import type { Logger } from '@vitascope/telemetry'
import { waitFor } from '@vitascope/testing'
import { renewLease } from './renew-lease.ts'

const upload = { uploadId: 'u-1', fence: 4 }

/** Renews a lease with these results, one after another. Later renewals succeed. */
function startRenewal(results: (boolean | Error)[]) {
  const warnings: unknown[] = []
  const calls: unknown[] = []
  const extendLease = async (uploadId: string, fence: number) => {
    calls.push({ uploadId, fence })
    const result = results.shift() ?? true
    if (result instanceof Error) throw result
    return result
  }
  const log: Pick<Logger, 'warn'> = { warn: (fields: unknown) => void warnings.push(fields) }
  return { lease: renewLease({ uploads: { extendLease }, log }, upload, 1), warnings, calls }
}

test('a renewal that fails is logged and repeated', async () => {
  const error = new Error('the connection was lost')
  const { lease, warnings, calls } = startRenewal([true, error, true])
  await waitFor(() => calls.length > 3)
  await lease.stop()
  expect(lease.lost.aborted).toBe(false)
  expect(warnings).toEqual([{ err: error, upload_id: 'u-1' }])
  expect(calls[0]).toEqual(upload)
})

test('the lease is over when a renewal finds another request', async () => {
  const { lease, warnings } = startRenewal([true, false])
  await waitFor(() => lease.lost.aborted)
  await lease.stop()
  expect(warnings).toEqual([])
})

test('no renewal is pending after the end', async () => {
  let finish = (_: boolean) => {}
  let isPending = false
  const extendLease = () => {
    isPending = true
    return new Promise<boolean>((resolve) => {
      finish = resolve
    }).finally(() => {
      isPending = false
    })
  }
  const lease = renewLease({ uploads: { extendLease }, log: { warn: () => {} } }, upload, 1)
  await waitFor(() => isPending)
  const stopped = lease.stop().then(() => isPending)
  finish(true)
  expect(await stopped).toBe(false)
})
