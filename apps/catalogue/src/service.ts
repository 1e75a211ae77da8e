import { createCaptionReader } from '@vitascope/captions'
import { checkUrl, sourcePolicy } from '@vitascope/fetch'
import { createGrpcServer, openChannel, openIdentity } from '@vitascope/grpc'
import { createOutbox, type Db, openPostgres, sweepIdempotency, watchFailovers } from '@vitascope/postgres'
import { type RunningService, repeat } from '@vitascope/process'
import { OrganisationServiceService } from '@vitascope/proto/auth/v1/organisation'
import { UserServiceService } from '@vitascope/proto/auth/v1/user'
import { CaptionServiceService } from '@vitascope/proto/catalogue/v1/caption'
import { ContactFormServiceService } from '@vitascope/proto/catalogue/v1/contact_form'
import { DeliveryRuleServiceService } from '@vitascope/proto/catalogue/v1/delivery_rule'
import { EncodingFormatServiceService } from '@vitascope/proto/catalogue/v1/encoding_format'
import { EventServiceService } from '@vitascope/proto/catalogue/v1/event'
import { FolderServiceService } from '@vitascope/proto/catalogue/v1/folder'
import { IdServiceService } from '@vitascope/proto/catalogue/v1/id'
import { JobServiceService } from '@vitascope/proto/catalogue/v1/job'
import { LocationServiceService } from '@vitascope/proto/catalogue/v1/location'
import { MediaServiceService } from '@vitascope/proto/catalogue/v1/media'
import { MetadataServiceService } from '@vitascope/proto/catalogue/v1/metadata'
import { OrganisationMirrorServiceService } from '@vitascope/proto/catalogue/v1/organisation_mirror'
import { OverlayServiceService } from '@vitascope/proto/catalogue/v1/overlay'
import { PlaylistServiceService } from '@vitascope/proto/catalogue/v1/playlist'
import { PresentationServiceService } from '@vitascope/proto/catalogue/v1/presentation'
import { QuotaServiceService } from '@vitascope/proto/catalogue/v1/quota'
import { SecurityServiceService } from '@vitascope/proto/catalogue/v1/security'
import { SettingServiceService } from '@vitascope/proto/catalogue/v1/setting'
import { TagServiceService } from '@vitascope/proto/catalogue/v1/tag'
import { ThemeServiceService } from '@vitascope/proto/catalogue/v1/theme'
import { VideoServiceService } from '@vitascope/proto/catalogue/v1/video'
import { VideoFactServiceService } from '@vitascope/proto/catalogue/v1/video_fact'
import { WebhookServiceService } from '@vitascope/proto/catalogue/v1/webhook'
import { JobServiceService as EncodingJobServiceService } from '@vitascope/proto/encoding/v1/job'
import { createMetrics, type Logger, type Metrics, serveMetrics } from '@vitascope/telemetry'
import { captionHandlers } from './caption/caption-rpc.ts'
import { createSourceReader } from './caption/caption-source.ts'
import { createCaptionStore } from './caption/caption-store.ts'
import type { CatalogueConfig } from './config.ts'
import { contactFormHandlers } from './contact-form/contact-form-rpc.ts'
import { createContactFormStore } from './contact-form/contact-form-store.ts'
import { createSubmissionStore } from './contact-form/submission-store.ts'
import { deliveryRuleHandlers } from './delivery-rule/delivery-rule-rpc.ts'
import { createDeliveryRuleStore } from './delivery-rule/delivery-rule-store.ts'
import { encodingFormatHandlers } from './encoding-format/encoding-format-rpc.ts'
import { createEncodingFormatStore } from './encoding-format/encoding-format-store.ts'
import { eventHandlers } from './event/event-rpc.ts'
import { createEventStore } from './event/event-store.ts'
import { createFairWriters } from './fair-writers.ts'
import { folderHandlers } from './folder/folder-rpc.ts'
import { createFolderStore } from './folder/folder-store.ts'
import { idHandlers } from './id/id-rpc.ts'
import { createIdStore } from './id/id-store.ts'
import { createAfterFailover } from './job/after-failover.ts'
import { handoverHandlers } from './job/handover.ts'
import { jobHandlers } from './job/job-rpc.ts'
import { createJobStore } from './job/job-store.ts'
import { createQuietJobs } from './job/quiet-jobs-store.ts'
import { type ReconcileTimes, reconcileJobs } from './job/reconcile.ts'
import { createRetryJob } from './job/retry-job.ts'
import { locationHandlers } from './location/location-rpc.ts'
import { createPlacedVideoStore } from './location/placed-video-store.ts'
import { createPostcodeStore } from './location/postcode-store.ts'
import { createMailStore } from './mail/mail-store.ts'
import { mailTransport } from './mail/mail-transport.ts'
import { createMailer, recipientsOf } from './mail/mailer.ts'
import { mediaHandlers } from './media/media-rpc.ts'
import { createMediaStore } from './media/media-store.ts'
import { metadataHandlers } from './metadata/metadata-rpc.ts'
import { createMetadataStore } from './metadata/metadata-store.ts'
import { createOrganisations } from './organisation-mirror/organisation.ts'
import { askAuthBy, organisationMirrorHandlers } from './organisation-mirror/organisation-mirror-rpc.ts'
import { createOrganisationStore } from './organisation-mirror/organisation-store.ts'
import { overlayHandlers } from './overlay/overlay-rpc.ts'
import { createOverlayStore } from './overlay/overlay-store.ts'
import { playlistHandlers } from './playlist/playlist-rpc.ts'
import { createPlaylistStore } from './playlist/playlist-store.ts'
import { presentationHandlers } from './presentation/presentation-rpc.ts'
import { createPresentationRules } from './presentation/presentation-rule.ts'
import { createPresentationStore } from './presentation/presentation-store.ts'
import { createQuietSlideJobs } from './presentation/quiet-slide-jobs-store.ts'
import { createSlideJobStore } from './presentation/slide-job-store.ts'
import { quotaHandlers } from './quota/quota-rpc.ts'
import { createUsageCheck } from './quota/usage-check.ts'
import { findAllowedIpsIn } from './security/address-check.ts'
import { securityHandlers } from './security/security-rpc.ts'
import { createPasswordDigests } from './setting/password-digest.ts'
import { settingHandlers } from './setting/setting-rpc.ts'
import { createSettingStore } from './setting/setting-store.ts'
import { tagHandlers } from './tag/tag-rpc.ts'
import { createTagStore } from './tag/tag-store.ts'
import { themeHandlers } from './theme/theme-rpc.ts'
import { createThemeStore } from './theme/theme-store.ts'
import { createSpokenWords } from './video/spoken-words.ts'
import { createUploadStore } from './video/upload-store.ts'
import { createVideoLists } from './video/video-list.ts'
import { videoHandlers } from './video/video-rpc.ts'
import { createVideoStore } from './video/video-store.ts'
import { createVideoSweep } from './video/video-sweep.ts'
import { createVideoTokens } from './video/video-token.ts'
import { videoFactHandlers } from './video-fact/video-fact-rpc.ts'
import { createVideoFactStore } from './video-fact/video-fact-store.ts'
import { createDeliveryStore } from './webhook/delivery-store.ts'
import { createSendingStore } from './webhook/sending-store.ts'
import { webhookHandlers } from './webhook/webhook-rpc.ts'
import { createSecretBox } from './webhook/webhook-secret.ts'
import { createWebhookSender } from './webhook/webhook-sender.ts'
import { createWebhookStore } from './webhook/webhook-store.ts'

/** The catalogue, serving. */
export interface RunningCatalogue extends RunningService {
  /** `HOST:PORT` as bound. */
  address: string
  metricsPort: number
}

/** Some five minutes of faults; the reconciler sees what became of the job then. */
const HANDOVER_FAULTS = 20
const READY_EVERY_MS = 2_000
/** Between two looks whether there was a failover: a table of a row or two. */
const FAILOVER_EVERY_MS = 1_000
const SWEEP_EVERY_MS = 60_000
const MAIL_EVERY_MS = 1_000
const TRIM_EVERY_MS = 600_000
const USAGE_EVERY_MS = 3_600_000
/** The time in which captions are found. */
const SPOKEN_EVERY_MS = 500
/** For one media, of which 250,000 characters are read: a second or two on a busy machine. */
const SPOKEN_MS = 30_000

export async function startCatalogue(config: CatalogueConfig, log: Logger): Promise<RunningCatalogue> {
  const metrics = createMetrics('catalogue')
  const identity = openIdentity(config.tls, { log, metrics })
  const { principalKey } = config
  const fair = createFairWriters()
  const failovers = watchFailovers({ schema: 'catalogue', log, metrics, dense: ['video_search_serial'] })
  const db = fair.db(openPostgres({ url: config.databaseUrl, schema: 'catalogue', log, failovers }))
  // A message that is being sent holds a connection: calls must not wait for those.
  const outboxDb = openPostgres({ url: config.databaseUrl, schema: 'catalogue', log, failovers })
  // Large captions take their time, one after another: nobody else's connections.
  const spokenDb = openPostgres({
    url: config.databaseUrl,
    schema: 'catalogue',
    log,
    poolSize: 1,
    statementTimeoutMs: SPOKEN_MS,
    failovers,
  })
  // What is told to the world, behind the calls: short transactions, many of them.
  const tellingDb = openPostgres({ url: config.databaseUrl, schema: 'catalogue', log, poolSize: 2, failovers })
  const encodingChannel = openChannel(config.encodingAddress, { principalKey, peer: identity?.peer('encoding') })
  const authChannel = openChannel(config.authAddress, { principalKey, peer: identity?.peer('auth') })
  const encoding = encodingChannel.client(EncodingJobServiceService)

  const handlers = handoverHandlers(encoding, { jobs: () => jobs, slideJobs: () => slideJobs }, log)
  const outbox = createOutbox({ db: outboxDb, handlers, log, mostFaults: HANDOVER_FAULTS })
  const { enqueue } = outbox
  const jobs = createJobStore(db, enqueue)
  const quiet = createQuietJobs(db, enqueue)
  const slideJobs = createSlideJobStore(db, enqueue)
  const quietSlides = createQuietSlideJobs(db, enqueue)
  const videos = createVideoStore(db)
  const videoSweep = createVideoSweep(db)
  const spoken = createSpokenWords(spokenDb, log)
  const rules = createDeliveryRuleStore(db)
  const mirror = createOrganisationStore(db)
  const organisations = createOrganisations(mirror, askAuthBy(authChannel.client(OrganisationServiceService)))
  const folders = createFolderStore(db)
  const tokens = createVideoTokens(db, videos, config.tokenKeys, config.masterKey)

  const server = fair.server(createGrpcServer({ principalKey, identity, serve: config.serve, log, metrics }))
  server.implement(
    VideoServiceService,
    videoHandlers({ videos, lists: createVideoLists(db), uploads: createUploadStore(db, enqueue), tokens, organisations, folders }),
  )
  server.implement(MediaServiceService, mediaHandlers(createMediaStore(db, enqueue), organisations))
  server.implement(JobServiceService, jobHandlers(jobs, createRetryJob(db, enqueue), slideJobs))
  server.implement(EncodingFormatServiceService, encodingFormatHandlers(createEncodingFormatStore(db, enqueue), organisations))
  server.implement(QuotaServiceService, quotaHandlers(db))
  server.implement(VideoFactServiceService, videoFactHandlers(createVideoFactStore(db)))
  server.implement(DeliveryRuleServiceService, deliveryRuleHandlers(rules, createPresentationRules(db)))
  server.implement(
    PresentationServiceService,
    presentationHandlers({ presentations: createPresentationStore(db, enqueue), slideJobs, organisations }),
  )
  server.implement(OrganisationMirrorServiceService, organisationMirrorHandlers(mirror))
  server.implement(PlaylistServiceService, playlistHandlers(createPlaylistStore(db), organisations))
  const themes = createThemeStore(db)
  server.implement(
    SettingServiceService,
    settingHandlers({ settings: createSettingStore(db), themes, videos, organisations, digests: createPasswordDigests() }),
  )
  server.implement(ThemeServiceService, themeHandlers(themes, organisations))
  server.implement(SecurityServiceService, securityHandlers(findAllowedIpsIn(db)))
  server.implement(MetadataServiceService, metadataHandlers(createMetadataStore(db)))
  server.implement(TagServiceService, tagHandlers(createTagStore(db), organisations))
  server.implement(FolderServiceService, folderHandlers(folders, organisations))
  const events = createEventStore(db)
  server.implement(EventServiceService, eventHandlers(events))
  server.implement(IdServiceService, idHandlers(createIdStore(db)))
  const policy = sourcePolicy({ allow: config.sourceAllow })
  const captionReader = createCaptionReader()
  server.implement(CaptionServiceService, captionHandlers(createCaptionStore(db), createSourceReader(policy, captionReader)))
  const webhooks = createWebhookStore(db, config.masterKey)
  const deliveries = createDeliveryStore(db)
  const checkAddress = (url: string) => checkUrl(url, policy)
  server.implement(WebhookServiceService, webhookHandlers({ webhooks, deliveries, organisations, checkAddress }))
  const box = createSecretBox(config.masterKey)
  const sender = createWebhookSender({ store: createSendingStore(tellingDb), box, policy, log })
  const mails = createMailStore(tellingDb)
  const send = mailTransport(config.mail, log)
  const findRecipient = recipientsOf(authChannel.client(UserServiceService))
  const mailer = send && createMailer({ store: mails, send, findRecipient, publicUrl: config.publicUrl, log })
  server.implement(OverlayServiceService, overlayHandlers(createOverlayStore(db), organisations))
  const forms = { forms: createContactFormStore(db), submissions: createSubmissionStore(db) }
  server.implement(ContactFormServiceService, contactFormHandlers({ ...forms, videos, organisations }))
  const places = { postcodes: createPostcodeStore(db), videos: createPlacedVideoStore(db) }
  server.implement(LocationServiceService, locationHandlers({ ...places, organisations }))

  observeBacklog(metrics, db)
  const differences = metrics.counter(
    'vitascope_catalogue_usage_differences_total',
    'Usages of organisations that were not what their rows come to',
  )
  const usageCheck = createUsageCheck(spokenDb, log, () => differences.inc())
  const metricsServer = await serveMetrics(metrics, config.metricsListen, log, server.isServing)
  const address = await server.listen(config.listen)
  outbox.start()
  sender.start()
  const stopping = new AbortController()
  const { everyMs, ...times } = config.reconcile
  const rounds = [
    (of: ReconcileTimes, signal: AbortSignal) => reconcileJobs({ quiet, jobs, encoding, log, ...of }, signal),
    (of: ReconcileTimes, signal: AbortSignal) => reconcileJobs({ quiet: quietSlides, jobs: slideJobs, encoding, log, ...of }, signal),
  ]
  const afterFailover = createAfterFailover({ db, rounds, resultSeconds: times.resultSeconds, log })
  const loops = [
    ...rounds.map((round) => repeat((signal) => round(times, signal).then(() => {}), everyMs, log, stopping.signal)),
    repeat(afterFailover, FAILOVER_EVERY_MS, log, stopping.signal),
    repeat(spoken.renew, SPOKEN_EVERY_MS, log, stopping.signal),
    repeat(async () => server.setServing(await db.ping()), READY_EVERY_MS, log, stopping.signal),
    repeat(() => Promise.all([rules.sweep(), sweepIdempotency(db), videoSweep.run()]).then(() => {}), SWEEP_EVERY_MS, log, stopping.signal),
    repeat((signal) => events.sweep(signal).then(() => mails.sweep(signal)), SWEEP_EVERY_MS, log, stopping.signal),
    repeat(usageCheck.run, USAGE_EVERY_MS, log, stopping.signal),
    repeat(deliveries.trim, TRIM_EVERY_MS, log, stopping.signal),
    ...(mailer ? [repeat(mailer.run, MAIL_EVERY_MS, log, stopping.signal)] : []),
  ]
  log.info({ address, metrics_port: metricsServer.port }, 'listening')

  return {
    address,
    metricsPort: metricsServer.port,
    async stop(drainMs) {
      stopping.abort()
      await server.drain(drainMs)
      await Promise.all([outbox.stop(), sender.stop(), captionReader.close(), ...loops])
      encodingChannel.close()
      authChannel.close()
      identity?.close()
      await Promise.all([db.close(), outboxDb.close(), spokenDb.close(), tellingDb.close(), metricsServer.close()])
    },
  }
}

/** What waits: words to encoding, and jobs under way. A database that is away leaves the figures as they were. */
function observeBacklog(metrics: Metrics, db: Db): void {
  const figure = (name: string, help: string, statement: string) =>
    metrics.gauge(name, help, [], async (gauge) => {
      const [row] = await db.query<{ value: number }>(statement).catch(() => [])
      if (row) gauge.set(row.value)
    })
  figure(
    'vitascope_catalogue_outbox_lag_seconds',
    'Age of the oldest message that waits for encoding',
    `select coalesce(extract(epoch from now() - min(create_time)), 0)::float8 as value from outbox where dead_time is null`,
  )
  figure(
    'vitascope_catalogue_webhook_lag_seconds',
    'How long the webhook delivery that is due longest has been due',
    `select coalesce(extract(epoch from now() - min(next_time)), 0)::float8 as value from webhook_lane where next_time <= now()`,
  )
  figure(
    'vitascope_catalogue_mails_waiting',
    'Messages of success that wait for the mail server',
    `select count(*)::int as value from mail where state = 'waiting'`,
  )
  figure(
    'vitascope_catalogue_jobs_standing',
    'Jobs that were accepted and have not ended',
    `select count(*)::int as value from job where state in ('queued', 'running')`,
  )
}
