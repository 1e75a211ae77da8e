// Faults: C2
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { openChannel, serviceCall } from '@vitascope/grpc'
import { PresentationServiceService } from '@vitascope/proto/catalogue/v1/presentation'
import { UploadVideoRequest, VideoServiceService } from '@vitascope/proto/catalogue/v1/video'
import { makeTokenKeys } from '@vitascope/security'
import { freePort, waitFor } from '@vitascope/testing'
import { testKeyEnvironment, testPrincipals } from '@vitascope/testing/principal-keys'
import { type CatalogueDatabase, catalogueDatabase } from './catalogue-database.ts'
import { encodingStandIn, masterSecret } from './stand-ins.ts'

let database: CatalogueDatabase
let folder: string
const children: ChildProcess[] = []
beforeAll(async () => {
  database = await catalogueDatabase()
  folder = mkdtempSync(join(tmpdir(), 'vitascope-catalogue-'))
  writeFileSync(join(folder, 'secret'), masterSecret)
  writeFileSync(join(folder, 'token-keys'), makeTokenKeys())
})
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(folder, { recursive: true })
  await database.close()
})

async function start(address: string, encodingAddress: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../src/main.ts')], {
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
  children.push(child)
  const [message] = await once(child, 'message')
  expect(message).toEqual({ ready: 'catalogue' })
  return child
}

test('jobs that were accepted before a SIGKILL reach encoding once each, and the service stops cleanly', async () => {
  const encoding = encodingStandIn(`127.0.0.1:${await freePort()}`)
  // The fake accepts jobs without responding, so that the kill happens between the effect and the
  // response.
  encoding.hold()
  await encoding.start()
  const address = `127.0.0.1:${await freePort()}`
  const first = await start(address, encoding.address)
  const channel = openChannel(address, { service: 'catalogue', principals: testPrincipals() })
  const videos = channel.client(VideoServiceService)
  const principal = { kind: 'user', keyId: '3', userId: '7', organisationId: '1', userType: 'uploader' } as const
  const request = UploadVideoRequest.fromPartial({ organisationId: '1', sourceUrl: 'https://example.org/launch.mp4' })
  const accepted: string[] = []
  for (let i = 0; i < 20; i++) accepted.push((await videos.uploadVideo(request, { ...serviceCall('test', 'r'), principal })).jobId)
  const presentations = channel.client(PresentationServiceService)
  const slides: string[] = []
  for (let i = 0; i < 10; i++) {
    const file = { filename: 'a.pdf', sourceObject: `upload/1/crash-${i}`, sourceBytes: 10, uploadId: '' }
    slides.push(
      (await presentations.addSlides({ presentationId: '', organisationId: '1', userId: '7', ...file }, serviceCall('test', 'r'))).jobId,
    )
  }
  await waitFor(() => encoding.state.calls.length > 0)
  first.kill('SIGKILL')
  await once(first, 'exit')

  encoding.release()
  const second = await start(address, encoding.address)
  await waitFor(() => accepted.every((jobId) => encoding.state.jobs.has(jobId)))
  await waitFor(() => slides.every((jobId) => encoding.state.slideJobs.has(jobId)))
  await waitFor(async () => (await database.messages()).length === 0)
  expect([...encoding.state.slideJobs.keys()].sort()).toEqual([...slides].sort())
  expect([...encoding.state.jobs.keys()].sort()).toEqual([...accepted].sort())
  expect(encoding.state.calls.length).toBeGreaterThan(accepted.length)

  second.kill('SIGTERM')
  const [code] = await once(second, 'exit')
  expect(code).toBe(0)
  channel.close()
  await encoding.stop()
})
