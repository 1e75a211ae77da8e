import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { JobState } from '@vitascope/proto/encoding/v1/job'
import { BUCKET_USERS, type BucketUser, buildBucketRights, grantBucketRights, type ObjectStorage, openStorage } from '@vitascope/storage'
import { s3Path, startS3, type TestS3, waitFor } from '@vitascope/testing'
import { makeVideo } from './fixture.ts'
import { endProcesses, startServiceProcess, startWorkerProcess } from './running-process.ts'
import { openCaller, startTestEnvironment, type TestEnvironment } from './service-under-test.ts'

interface Policy {
  Version: string
  Statement: { Effect: string; Action: string[]; Resource: string[] }[]
}

/** Returns the policies of docs/operate/security.md. */
function documentedPolicies(): Policy[] {
  const guide = readFileSync(join(import.meta.dirname, '../../../docs/operate/security.md'), 'utf8')
  const section = guide.split(/^## /m).find((text) => text.startsWith('Rights in the bucket\n')) ?? ''
  return [...section.matchAll(/^```json\n([\s\S]*?)^```/gm)].map(([, json = '']) => JSON.parse(json) as Policy)
}

test('the guide lists the granted rights', () => {
  const [encoding, worker, delivery] = documentedPolicies().map(({ Statement }) => Statement)
  const documented: Record<BucketUser, unknown> = { encoding, worker, delivery, backup: delivery }
  for (const user of BUCKET_USERS) expect([user, buildBucketRights(user, 'BUCKET')]).toEqual([user, documented[user]])
})

const describeWithS3 = s3Path() ? describe : describe.skip

describeWithS3('with the documented rights in the bucket', () => {
  let s3: TestS3
  let environment: TestEnvironment
  const stores = {} as Record<BucketUser, ObjectStorage>
  const environments = {} as Record<BucketUser, Record<string, string>>

  beforeAll(async () => {
    s3 = await startS3()
    environment = await startTestEnvironment()
    for (const name of BUCKET_USERS) {
      const keys = await s3.addUser(name)
      const file = join(environment.folder, `s3-secret-${name}`)
      await writeFile(file, keys.secretAccessKey)
      const { endpoint, region, bucket } = s3
      stores[name] = await openStorage({ s3: { endpoint, region, bucket, ...keys, virtualHost: false } })
      environments[name] = {
        VITASCOPE_S3_ENDPOINT: endpoint,
        VITASCOPE_S3_BUCKET: bucket,
        VITASCOPE_S3_ACCESS_KEY_ID: keys.accessKeyId,
        VITASCOPE_S3_SECRET_KEY_FILE: file,
      }
    }
    const accessKeyIds = Object.fromEntries(BUCKET_USERS.map((name) => [name, [name]])) as Record<BucketUser, string[]>
    for (let times = 0; times < 2; times++) await grantBucketRights(s3, accessKeyIds)
  }, 60_000)
  afterAll(async () => {
    await endProcesses()
    await environment?.close()
    await s3?.stop()
  })

  const bytes = Buffer.from('some bytes')

  test('a worker reads sources, writes below the prefixes of its tasks, and deletes nothing', async () => {
    const { encoding, worker } = stores
    await encoding.put('source/1/1', bytes)
    expect(await text((await worker.open('source/1/1')).stream)).toBe('some bytes')
    expect(await worker.stat('source/1/2')).toBeUndefined()
    for (const prefix of ['work', 'media', 'slides']) await worker.put(`${prefix}/1/1-1/a`, bytes)
    // A multipart upload.
    await worker.put('media/1/1-1/large', randomBytes(17 << 20))
    for (const name of ['source/1/3', 'uploads/1/a', 'tus/1/1', 'other/a']) await expect(worker.put(name, bytes)).rejects.toThrow()
    for (const name of ['source/1/1', 'work/1/1-1/a']) await expect(worker.delete(name)).rejects.toThrow()
    await expect(worker.deletePrefix('media/1')).rejects.toThrow()
    expect(await encoding.stat('media/1/1-1/large')).toBeDefined()
    expect(await encoding.deletePrefix('media/1')).toBe(2)
  })

  test.each(['delivery', 'backup'] as const)('%s reads only', async (name) => {
    const { encoding, [name]: reader } = stores
    const prefix = `media/2/1-1-${name}`
    await encoding.put(`${prefix}/a`, bytes)
    expect(await text((await reader.open(`${prefix}/a`, { range: { start: 5 } })).stream)).toBe('bytes')
    await expect(reader.open(`${prefix}/b`)).rejects.toMatchObject({ kind: 'not_found' })
    await expect(reader.put(`${prefix}/c`, bytes)).rejects.toThrow()
    await expect(reader.delete(`${prefix}/a`)).rejects.toThrow()
  })

  test('a URL becomes a published set that delivery can read', async () => {
    environment.origin.serve('/short.mp4', await makeVideo(join(environment.folder, 'short.mp4'), 4))
    const service = await startServiceProcess(environment, environments.encoding)
    await startWorkerProcess(environment, service.address, environments.worker)
    const caller = openCaller(service.address)
    try {
      const source = { jobId: '7', mediaId: '97', organisationId: '1', sourceUrl: environment.origin.url('/short.mp4') }
      await caller.jobs.createJob(source, caller.call)
      const set = await waitFor(() => environment.catalogue.published('7')[0], { timeout: 100_000, describe: 'the video to be published' })
      expect((await caller.job('7')).state).toBe(JobState.JOB_STATE_OK)
      for (const path of [set.hlsPath, ...set.renditions.map((rendition) => rendition.path)])
        expect(await stores.delivery.stat(`${set.prefix}/${path}`)).toBeDefined()
      const isEmpty = async () => {
        for await (const _ of stores.encoding.list('work/7')) return false
        return true
      }
      await waitFor(isEmpty, { timeout: 30_000, describe: 'encoding to delete the work of the worker' })
    } finally {
      caller.close()
    }
  }, 150_000)
})
