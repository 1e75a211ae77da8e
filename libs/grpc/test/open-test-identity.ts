import { rm } from 'node:fs/promises'
import { afterEach } from '@jest/globals'
import { createLogger, createMetrics } from '@vitascope/telemetry'
import { type CertificateFiles, certificateFolder } from '@vitascope/testing/certificates'
import { type Identity, openIdentity } from '../src/index.ts'

/** Clean-up functions of a test, called in reverse order. */
export const undo: (() => unknown)[] = []
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step()
})

export const log = createLogger({ service: 'test', level: 'silent' })
export const ROUND_MS = 20

/** Returns an identity with these certificates, which are polled every 20 ms. */
export async function openTestIdentity(files: CertificateFiles, callers: readonly string[] = []) {
  const { folder, replace } = await certificateFolder(files)
  const metrics = createMetrics('test')
  const identity = openIdentity({ folder, callers }, { log, metrics, pollMs: ROUND_MS }) as Identity
  undo.push(() => rm(folder, { recursive: true }), identity.close)
  return { identity, folder, replace, metrics }
}
