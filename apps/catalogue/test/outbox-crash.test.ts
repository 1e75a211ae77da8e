// Faults: C14
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { openChannel, serviceCall } from '@vitascope/grpc'
import { UploadVideoRequest, VideoServiceService } from '@vitascope/proto/catalogue/v1/video'
import { makeTokenKeys } from '@vitascope/security'
import { freePort, isLongRun, recordFigure, waitFor } from '@vitascope/testing'
import { testKeyEnvironment, testPrincipals } from '@vitascope/testing/principal-keys'
import { type CatalogueDatabase, catalogueDatabase } from './catalogue-database.ts'
import { encodingStandIn, masterSecret } from './stand-ins.ts'

const ROUNDS = isLongRun ? 200 : 8
const UPLOADS = 3
/** Maximum time in which all messages are sent after the last start. It takes up to 5 s on a quiet machine. */
const MAX_SENDING_MS = 50_000

let database: CatalogueDatabase
let folder: string
let running: ChildProcess | undefined

beforeAll(async () => {
  database = await catalogueDatabase()
  folder = mkdtempSync(join(tmpdir(), 'vitascope-catalogue-'))
  writeFileSync(join(folder, 'secret'), masterSecret)
  writeFileSync(join(folder, 'token-keys'), makeTokenKeys())
})
afterAll(async () => {
  running?.kill('SIGKILL')
  rmSync(folder, { recursive: true })
  await database.close()
})

async function start(address: string, encodingAddress: string): Promise<ChildProcess> {
  running = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', join(import.meta.dirname, '../src/main.ts')], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: {
      VITASCOPE_CATALOGUE_LISTEN: address,
      VITASCOPE_CATALOGUE_DATABASE_URL: database.url,
      ...testKeyEnvironment('catalogue'),
      VITASCOPE_MASTER_KEY_FILE: join(folder, 'secret'),
      VITASCOPE_TOKEN_KEYS_FILE: join(folder, 'token-keys'),
      VITASCOPE_ENCODING_ADDRESS: encodingAddress,
      VITASCOPE_AUTH_ADDRESS: '127.0.0.1:1',
    },
  })
  await once(running, 'message')
  return running
}

test(`${ROUNDS} kills between commit, sending and completion of a message neither lose nor duplicate a job`, async () => {
  const encoding = encodingStandIn(`127.0.0.1:${await freePort()}`)
  const address = `127.0.0.1:${await freePort()}`
  const channel = openChannel(address, { service: 'catalogue', principals: testPrincipals() })
  const videos = channel.client(VideoServiceService)
  const principal = { kind: 'user', keyId: '3', userId: '7', organisationId: '1', userType: 'uploader' } as const
  const request = UploadVideoRequest.fromPartial({ organisationId: '1', sourceUrl: 'https://example.org/launch.mp4' })
  const accepted: string[] = []
  for (let round = 0; round < ROUNDS; round++) {
    // In even rounds encoding is unavailable. In odd rounds it accepts jobs without responding.
    const isAvailable = round % 2 === 1
    if (isAvailable) {
      encoding.hold()
      await encoding.start()
    }
    // Messages of earlier rounds may be sent before there are new ones.
    const before = encoding.state.calls.length
    const child = await start(address, encoding.address)
    expect(await channel.ready(10_000)).toBe(true)
    for (let count = 0; count < UPLOADS; count++)
      accepted.push((await videos.uploadVideo(request, { ...serviceCall('test', 'r'), principal })).jobId)
    if (isAvailable) await waitFor(() => encoding.state.calls.length > before)
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect((await database.messages()).length).toBeGreaterThanOrEqual(UPLOADS)
    encoding.release()
    await encoding.stop()
  }
  await encoding.start()
  const last = await start(address, encoding.address)
  const startedAt = performance.now()
  await waitFor(async () => (await database.messages()).length === 0, {
    timeout: MAX_SENDING_MS,
    describe: () => `the outbox to be empty; ${encoding.state.jobs.size} of ${accepted.length} jobs arrived`,
  })
  const tookMs = Math.round(performance.now() - startedAt)
  const lost = accepted.filter((jobId) => !encoding.state.jobs.has(jobId)).length
  recordFigure('C14', `${ROUNDS} kills, ${lost} of ${accepted.length} messages lost, all sent ${tookMs} ms after the last start`)
  expect([...encoding.state.jobs.keys()].toSorted()).toEqual(accepted.toSorted())
  expect(new Set(accepted).size).toBe(ROUNDS * UPLOADS)
  // The receiver got some messages twice, but has one job for each.
  expect(encoding.state.calls.length).toBeGreaterThan(accepted.length)
  last.kill('SIGTERM')
  expect((await once(last, 'exit'))[0]).toBe(0)
  channel.close()
  await encoding.stop()
}, 600_000)
