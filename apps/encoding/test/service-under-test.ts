import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Call, type Channel, type Client, openChannel, serviceCall } from '@vitascope/grpc'
import { type Db, openPostgres } from '@vitascope/postgres'
import { type Job, JobServiceService } from '@vitascope/proto/encoding/v1/job'
import { PreviewPlaylistServiceService } from '@vitascope/proto/encoding/v1/preview_playlist'
import { WorkServiceService } from '@vitascope/proto/encoding/v1/work'
import { type ObjectStorage, openFileStorage } from '@vitascope/storage'
import { createTestDatabase, masterKeyFile, testLog } from '@vitascope/testing'
import { testKeyFiles, testPrincipals } from '@vitascope/testing/principal-keys'
import type { EncodingConfig } from '../src/config.ts'
import { startEncoding } from '../src/service.ts'
import type { UploadQuota } from '../src/upload/upload-quota.ts'
import { type Origin, startOrigin } from './origin.ts'
import { type StandInCatalogue, startCatalogue } from './stand-in-catalogue.ts'

/** Environment of the service: a database, a storage, a catalogue, and an origin of sources. */
export interface TestEnvironment {
  databaseUrl: string
  db: Db
  folder: string
  storage: ObjectStorage
  catalogue: StandInCatalogue
  /** Releases reservations in the stand-in catalogue. */
  quota: Pick<UploadQuota, 'release'>
  origin: Origin
  config(overrides?: Partial<EncodingConfig>): EncodingConfig
  /** Returns the names of all objects below a prefix. */
  objects(prefix?: string): Promise<string[]>
  /** Deletes all jobs and workers with their rows, between two tests. */
  deleteJobs(): Promise<void>
  close(): Promise<void>
}

export async function startTestEnvironment(): Promise<TestEnvironment> {
  const database = await createTestDatabase({ migrations: join(import.meta.dirname, '../migrations'), schema: 'encoding' })
  const db = openPostgres({ url: database.url, schema: 'encoding', log: testLog })
  // All tests of the service use fences that exceed 32 bits.
  await db.query(`select setval('work_fence', ${2 ** 31})`)
  const folder = await mkdtemp(join(tmpdir(), 'vitascope-encoding-'))
  const storage = await openFileStorage({ root: join(folder, 'storage') })
  const [catalogue, origin] = await Promise.all([startCatalogue(), startOrigin()])
  return {
    databaseUrl: database.url,
    db,
    async deleteJobs() {
      await db.query('truncate outbox, job, chunk, segment, object_prefix, worker, work_item')
    },
    folder,
    storage,
    catalogue,
    quota: {
      async release(id) {
        catalogue.reservations.delete(id)
      },
    },
    origin,
    config: (overrides) => ({
      listen: '127.0.0.1:0',
      databaseUrl: database.url,
      principalKeys: testKeyFiles('encoding'),
      uploadSigningKeyFile: masterKeyFile('a secret of these tests, long enough'),
      catalogueAddress: catalogue.address,
      metricsListen: '127.0.0.1:0',
      uploadListen: '127.0.0.1:0',
      uploadRetentionSeconds: 3_600,
      objects: { folder: join(folder, 'storage') },
      scratchDir: join(folder, 'scratch/fetch'),
      source: {
        allow: ['127.0.0.0/8'],
        maxBytes: 50_000_000,
        timeoutSeconds: 20,
        minBytesPerSecond: 0,
        maxSeconds: 3600,
        parallel: 2,
        maxJobsAhead: 8,
        keepsSources: true,
      },
      timing: { leaseMs: 30_000, fetchLeaseMs: 4_000, reconcileMs: 200, retryMs: 20, lowPriorityMaxWaitSeconds: 3_600 },
      kubernetes: undefined,
      crashAt: undefined,
      ...overrides,
    }),
    async objects(prefix = '') {
      const names: string[] = []
      for await (const { name } of storage.list(prefix)) names.push(name)
      return names
    },
    async close() {
      await Promise.all([catalogue.stop(), origin.stop()])
      await db.close()
      await database.drop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Clients of the service, as other services use them. */
export interface Caller {
  jobs: Client<typeof JobServiceService>
  work: Client<typeof WorkServiceService>
  previewPlaylists: Client<typeof PreviewPlaylistServiceService>
  call: Call
  job(jobId: string): Promise<Job>
  close(): void
}

export function openCaller(address: string): Caller {
  const channel: Channel = openChannel(address, { service: 'encoding', principals: testPrincipals() })
  const asWorker = openChannel(address, { service: 'encoding', principals: testPrincipals(undefined, 'worker') })
  const jobs = channel.client(JobServiceService)
  const call = serviceCall('test', 'r-1')
  return {
    jobs,
    work: asWorker.client(WorkServiceService),
    previewPlaylists: channel.client(PreviewPlaylistServiceService),
    call,
    async job(jobId) {
      const { job } = await jobs.getJob({ jobId }, call)
      if (!job) throw new Error('the response has no job')
      return job
    },
    close() {
      channel.close()
      asWorker.close()
    },
  }
}

/** Starts the service in this process. */
export async function startInProcess(environment: TestEnvironment, overrides?: Partial<EncodingConfig>) {
  const service = await startEncoding(environment.config(overrides), testLog)
  const caller = openCaller(service.address)
  return {
    ...caller,
    address: service.address,
    uploadAddress: service.uploadAddress,
    metricsPort: service.metricsPort,
    async stop() {
      caller.close()
      await service.stop()
    },
  }
}

export async function filesIn(folder: string): Promise<string[]> {
  return (await readdir(folder, { recursive: true }).catch(() => [])).sort()
}
