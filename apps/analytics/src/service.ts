import { randomUUID } from 'node:crypto'
import { NO_COUNTRIES, openCountries } from '@vitascope/country'
import { createRetention } from '@vitascope/postgres'
import { EventServiceService } from '@vitascope/proto/analytics/v1/event'
import { ExportServiceService } from '@vitascope/proto/analytics/v1/export'
import { InsightServiceService } from '@vitascope/proto/analytics/v1/insight'
import { ReportServiceService } from '@vitascope/proto/analytics/v1/report'
import { ViewSessionServiceService } from '@vitascope/proto/analytics/v1/view_session'
import { VideoSummaryServiceService } from '@vitascope/proto/catalogue/v1/video_summary'
import { type RunningGrpcService, type ServiceBase, type ServiceParts, startGrpcService } from '@vitascope/service'
import type { Logger } from '@vitascope/telemetry'
import type { AnalyticsConfig } from './config.ts'
import { eventHandlers } from './event/event-rpc.ts'
import { createEventStore } from './event/event-store.ts'
import { createEventWriter } from './event/event-writer.ts'
import { createRejectedCounter } from './event/rejected-events.ts'
import { openSpool } from './event/spool.ts'
import { createStoredViews } from './event/stored-views.ts'
import { createVisitors } from './event/visitor.ts'
import { exportHandlers } from './export/export-rpc.ts'
import { createExportStore } from './export/export-store.ts'
import { insightHandlers } from './insight/insight-rpc.ts'
import { createInsightStore } from './insight/insight-store.ts'
import { createComparisonStore } from './reconcile/comparison-store.ts'
import { createNightlyComparison, registerComparisonMetrics } from './reconcile/nightly.ts'
import { reconcileInChildProcess } from './reconcile/reconcile-in-child-process.ts'
import { reportHandlers } from './report/report-rpc.ts'
import { createReportStore } from './report/report-store.ts'
import { analyticsRetention } from './retention/retention.ts'
import { createVideoDirectory } from './video/video-directory.ts'
import { createVideoStore } from './video/video-store.ts'
import { DAY_MS, toDay } from './view/day.ts'
import { createMerger } from './view/merge.ts'
import { registerMergeMetrics } from './view/merge-metrics.ts'
import { registerGrowthMetrics } from './view/organisation-growth.ts'
import { createViewCache } from './view/view-cache.ts'
import { deletedVideoSessions } from './view-session/deleted-videos.ts'
import { createSessionWriter } from './view-session/session-writer.ts'
import { viewSessionHandlers } from './view-session/view-session-rpc.ts'
import { createViewSessionStore } from './view-session/view-session-store.ts'

/** Reports must show accepted events within 5 s. */
const MERGE_EVERY_MS = 1_000
const DRAIN_EVERY_MS = 1_000
const SAVE_VIDEOS_EVERY_MS = 1_000
const PREPARE_EVERY_MS = 60_000
const RETENTION_EVERY_MS = 60_000
const COMPARE_EVERY_MS = 60_000

export function startAnalytics(config: AnalyticsConfig, log: Logger): Promise<RunningGrpcService> {
  return startGrpcService({ name: 'analytics', config, log }, (base) => assemble(config, base))
}

async function assemble(config: AnalyticsConfig, base: ServiceBase): Promise<ServiceParts> {
  const { log, metrics, server } = base
  const db = base.openDatabase()
  const catalogue = base.openChannel('catalogue', config.catalogueAddress)
  const videos = createVideoDirectory({ catalogue: catalogue.client(VideoSummaryServiceService), store: createVideoStore(db), log })
  const writer = randomUUID()
  const events = createEventStore(db, writer)
  const spool = config.spool && (await openSpool({ ...config.spool, log }))
  const viewCache = createViewCache({ writer })
  const countRejected = createRejectedCounter(metrics)
  const eventWriter = createEventWriter({
    store: events,
    spool,
    viewCache,
    countRejected,
    retentionDays: config.retentionDays,
    log,
    metrics,
  })
  const visitors = createVisitors(db)
  const { countryDatabaseFile } = config
  const countries = countryDatabaseFile === undefined ? NO_COUNTRIES : openCountries(countryDatabaseFile, { log, metrics })
  const insights = createInsightStore(db)
  const countMerged = registerMergeMetrics(db, metrics)
  registerGrowthMetrics(db, metrics)
  const comparisons = createComparisonStore(db)
  const nightly = createNightlyComparison({
    comparisons,
    compare: (signal) => reconcileInChildProcess(config.directDatabaseUrl ?? config.databaseUrl, signal),
    log,
  })
  registerComparisonMetrics(comparisons, metrics)

  const views = createStoredViews(db)
  const sessions = createViewSessionStore(db)
  const sessionWriter = createSessionWriter(db)
  server.implement(EventServiceService, eventHandlers({ eventWriter, videos, visitors, views, countries, countRejected, metrics }))
  server.implement(
    ViewSessionServiceService,
    viewSessionHandlers({ writer: sessionWriter, sessions, videos, views, countRejected, metrics }),
  )
  server.implement(ReportServiceService, reportHandlers({ reports: createReportStore(db), videos }))
  server.implement(InsightServiceService, insightHandlers({ insights, videos }))
  server.implement(ExportServiceService, exportHandlers({ rows: createExportStore(db) }))

  const mergeOnce = createMerger(db, { viewCache })
  const merge = async (signal: AbortSignal) => {
    while (!signal.aborted) {
      const count = await mergeOnce(signal)
      if (!count) return
      countMerged(count)
    }
  }
  /** Creates the partitions and salts of the next days, so that they exist during a database outage. */
  const prepareAhead = async () => {
    await events.prepare([-1, 0, 1, 2].map((shift) => toDay(Date.now() + shift * DAY_MS)))
    await visitors.renewSalts()
  }
  const tables = [
    ...analyticsRetention(db, config.retentionDays),
    { table: 'live_view', remove: insights.removeInactiveViews },
    { table: 'live_minute', remove: insights.removeOldMinutes },
    deletedVideoSessions(sessions, videos),
  ]
  return {
    db,
    loops: [
      { run: prepareAhead, everyMs: PREPARE_EVERY_MS },
      { run: eventWriter.drain, everyMs: DRAIN_EVERY_MS },
      { run: merge, everyMs: MERGE_EVERY_MS, isDelayed: true },
      { run: videos.saveUpdates, everyMs: SAVE_VIDEOS_EVERY_MS, isDelayed: true },
      { run: createRetention({ tables, metrics, log }), everyMs: RETENTION_EVERY_MS, isDelayed: true },
      { run: nightly, everyMs: COMPARE_EVERY_MS, isDelayed: true },
    ],
    async finish() {
      countries.close()
      await eventWriter.close()
      await sessionWriter.close()
      await spool?.close()
    },
  }
}
