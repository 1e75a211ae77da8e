import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { readWorkerConfig } from './config.ts'

const folder = mkdtempSync(join(tmpdir(), 'vitascope-worker-'))
afterAll(() => rmSync(folder, { recursive: true }))

const base = { VITASCOPE_ENCODING_ADDRESS: 'encoding:9000', VITASCOPE_SIGNING_KEY_FILE: '/keys/signing-key', VITASCOPE_STORAGE_DIR: folder }
const pod = { ...base, VITASCOPE_WORKER_RUN: 'vitascope-encode-12-3', VITASCOPE_WORKER_JOB: '12', VITASCOPE_WORKER_CHUNKS: '0,2,5' }

test('a worker outside of Kubernetes Jobs has its configured name', () => {
  expect(readWorkerConfig({ ...base, VITASCOPE_WORKER_NAME: 'w' })).toMatchObject({ name: 'w', chunk: undefined })
})

test('the scratch limit is a number of bytes, or undefined', () => {
  expect(readWorkerConfig(base).scratchBytes).toBeUndefined()
  expect(readWorkerConfig({ ...base, VITASCOPE_SCRATCH_BYTES: '20401094656' }).scratchBytes).toBe(20_401_094_656)
  expect(() => readWorkerConfig({ ...base, VITASCOPE_SCRATCH_BYTES: '20Gi' })).toThrow('VITASCOPE_SCRATCH_BYTES must be an integer')
})

test('a pod of a Kubernetes Job has the chunk and the name of its index', () => {
  expect(readWorkerConfig({ ...pod, JOB_COMPLETION_INDEX: '2' })).toMatchObject({
    name: 'vitascope-encode-12-3-2',
    chunk: { jobId: '12', chunk: 5 },
  })
})

test.each([[{}], [{ JOB_COMPLETION_INDEX: '3' }], [{ JOB_COMPLETION_INDEX: '0', VITASCOPE_WORKER_CHUNKS: 'all' }]])(
  'rejects %j, which has no chunk',
  (overrides) => {
    expect(() => readWorkerConfig({ ...pod, ...overrides })).toThrow(/JOB_COMPLETION_INDEX|VITASCOPE_WORKER_CHUNKS/)
  },
)
