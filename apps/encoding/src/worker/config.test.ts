import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { readWorkerConfig } from './config.ts'

const folder = mkdtempSync(join(tmpdir(), 'vitascope-worker-'))
const key = join(folder, 'key')
writeFileSync(key, 'a secret')
afterAll(() => rmSync(folder, { recursive: true }))

const base = { VITASCOPE_ENCODING_ADDRESS: 'encoding:9000', VITASCOPE_PRINCIPAL_KEY_FILE: key, VITASCOPE_STORAGE_DIR: folder }
const pod = { ...base, VITASCOPE_WORKER_RUN: 'vitascope-encode-12-3', VITASCOPE_WORKER_JOB: '12', VITASCOPE_WORKER_CHUNKS: '0,2,5' }

test('a worker does what there is under its own name', () => {
  expect(readWorkerConfig({ ...base, VITASCOPE_WORKER_NAME: 'w' })).toMatchObject({ name: 'w', chunk: undefined })
})

test('what tasks may take of the scratch folder is a number of bytes, or what there is', () => {
  expect(readWorkerConfig(base).scratchBytes).toBeUndefined()
  expect(readWorkerConfig({ ...base, VITASCOPE_SCRATCH_BYTES: '20401094656' }).scratchBytes).toBe(20_401_094_656)
  expect(() => readWorkerConfig({ ...base, VITASCOPE_SCRATCH_BYTES: '20Gi' })).toThrow('VITASCOPE_SCRATCH_BYTES must be a whole number')
})

test('a pod of a run is there for the chunk of its index, under a name that the next pod of this index has, too', () => {
  expect(readWorkerConfig({ ...pod, JOB_COMPLETION_INDEX: '2' })).toMatchObject({
    name: 'vitascope-encode-12-3-2',
    chunk: { jobId: '12', chunk: 5 },
  })
})

test.each([[{}], [{ JOB_COMPLETION_INDEX: '3' }], [{ JOB_COMPLETION_INDEX: '0', VITASCOPE_WORKER_CHUNKS: 'all' }]])(
  '%j leaves no chunk to encode',
  (more) => {
    expect(() => readWorkerConfig({ ...pod, ...more })).toThrow(/JOB_COMPLETION_INDEX|VITASCOPE_WORKER_CHUNKS/)
  },
)
