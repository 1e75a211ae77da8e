import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DomainError } from '@vitascope/errors'
import { type Call, createGrpcServer, openChannel, serviceCall, type UserKind } from '@vitascope/grpc'
import { openPostgres } from '@vitascope/postgres'
import { type Event, EventServiceService } from '@vitascope/proto/analytics/v1/event'
import { ExportServiceService } from '@vitascope/proto/analytics/v1/export'
import { InsightServiceService } from '@vitascope/proto/analytics/v1/insight'
import { ReportServiceService } from '@vitascope/proto/analytics/v1/report'
import { ViewSessionServiceService } from '@vitascope/proto/analytics/v1/view_session'
import { type VideoSummary, VideoSummaryServiceService } from '@vitascope/proto/catalogue/v1/video_summary'
import { createMetrics } from '@vitascope/telemetry'
import { createTestDatabase, testLog, waitFor } from '@vitascope/testing'
import { testKeyFiles, testPrincipals } from '@vitascope/testing/principal-keys'
import { reconcile } from '../src/reconcile/reconcile.ts'
import { startAnalytics } from '../src/service.ts'
import { mergeRound } from '../src/view/merge.ts'

const MIGRATIONS = fileURLToPath(new URL('../migrations', import.meta.url))

/** Creates the database of a test file with the schema of analytics. */
export async function analyticsDatabase() {
  const database = await createTestDatabase({ migrations: MIGRATIONS, schema: 'analytics' })
  const db = openPostgres({ url: database.url, schema: 'analytics', log: testLog })
  return {
    url: database.url,
    db,
    async close() {
      await db.close()
      await database.drop()
    },
  }
}

/** Returns a call by a user, by default of organisation 1. */
export function as(userType: UserKind, organisationId = '1'): Call {
  const principal = { kind: 'user' as const, keyId: '1', userId: '900', organisationId, userType }
  return { principal, requestId: 'r', signal: new AbortController().signal }
}

/** Replaces the catalogue. Its data is in a map. */
export async function startCatalogue() {
  const server = createGrpcServer({ principals: testPrincipals(), log: testLog, metrics: createMetrics('catalogue') })
  const videos = new Map<string, VideoSummary>()
  const catalogue = { address: '', videos, isUnavailable: false, stop: () => server.drain(100) }
  server.implement(VideoSummaryServiceService, {
    async listVideoSummaries({ videoIds, withTexts }) {
      if (catalogue.isUnavailable) throw new DomainError('unavailable', 'CATALOGUE_UNAVAILABLE', 'the catalogue is unavailable')
      const summaries = videoIds.flatMap((id) => videos.get(id) ?? [])
      return { summaries: withTexts ? summaries : summaries.map((summary) => ({ ...summary, texts: undefined })) }
    },
  })
  catalogue.address = await server.listen('127.0.0.1:0')
  let last = 0
  return {
    ...catalogue,
    setUnavailable: (isUnavailable: boolean) => {
      catalogue.isUnavailable = isUnavailable
    },
    createVideo(durationSeconds: number | undefined = 100, organisationId = '1', languages: string[] = []): string {
      const videoId = String(++last * 1_000_003)
      const texts = { title: `Title ${last}`, mediaTitle: `Media ${last}`, description: `About ${last}`, language: 'en' }
      videos.set(videoId, { videoId, organisationId, durationSeconds, texts, languages })
      return videoId
    },
  }
}

/** Starts replicas of the service on one database, with a catalogue. */
export async function openFixture({
  replicas = 1,
  databaseUrl,
  countryDatabaseFile,
}: {
  replicas?: number
  databaseUrl?: string
  countryDatabaseFile?: string
} = {}) {
  const database = await analyticsDatabase()
  const catalogue = await startCatalogue()
  const folder = await mkdtemp(join(tmpdir(), 'vitascope-analytics-'))
  const startOne = async (nth: number) => {
    const service = await startAnalytics(
      {
        listen: '127.0.0.1:0',
        metricsListen: '127.0.0.1:0',
        databaseUrl: databaseUrl ?? database.url,
        principalKeys: testKeyFiles('analytics'),
        catalogueAddress: catalogue.address,
        spool: { folder: join(folder, String(nth)), maxBytes: 16 * 1024 * 1024 },
        retentionDays: 30,
        countryDatabaseFile,
      },
      testLog,
    )
    const channel = openChannel(service.address, { service: 'analytics', principals: testPrincipals() })
    return {
      service,
      events: channel.client(EventServiceService),
      reports: channel.client(ReportServiceService),
      insights: channel.client(InsightServiceService),
      exports: channel.client(ExportServiceService),
      sessions: channel.client(ViewSessionServiceService),
      async stop() {
        channel.close()
        await service.stop()
      },
    }
  }
  const started = await Promise.all(Array.from({ length: replicas }, (_, nth) => startOne(nth)))
  const first = started[0]
  if (!first) throw new Error('no replica')
  return {
    db: database.db,
    databaseUrl: database.url,
    catalogue,
    replicas: started,
    ...first,
    /** Sends events of one player to a replica. */
    send: (events: Event[], { replica = 0, userAgent = 'a browser', clientAddress = '192.0.2.1' } = {}) =>
      (started[replica] ?? first).events.acceptEvents({ events, userAgent, clientAddress }, serviceCall('gateway', 'r')),
    /**
     * Waits until all accepted events are counted. It merges itself, in addition to the replicas, to
     * avoid waiting for their timers. With `byReplicas`, only the replicas merge, with their caches.
     */
    settled: ({ byReplicas = false } = {}) =>
      waitFor(
        async () => {
          if (!byReplicas) await mergeRound(database.db)
          return (await database.db.query('select 1 from pending_batch limit 1')).length === 0
        },
        { timeout: 60_000, describe: () => 'no pending batch' },
      ),
    reconcile: () => reconcile(database.db),
    async close() {
      await Promise.all(started.map((one) => one.stop()))
      await catalogue.stop()
      await database.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Returns an event. Omitted fields have default values. */
export function buildEvent(more: Partial<Event> & { videoId: string; viewId: string }): Event {
  return {
    type: 'EVENT_TYPE_PROGRESS',
    atMs: Date.now(),
    watched: [],
    rewatched: [],
    language: '',
    subtitle: '',
    quality: undefined,
    referrer: '',
    knownViewOnly: false,
    ...more,
  }
}
