import { createCaptionReader } from '@vitascope/captions'
import { NO_COUNTRIES, openCountries } from '@vitascope/country'
import { checkUrl, sourcePolicy } from '@vitascope/fetch'
import { type Call, serviceCall } from '@vitascope/grpc'
import { commonRetainedTables, createNotifications, createOutbox, createRetention } from '@vitascope/postgres'
import { OrganisationServiceService } from '@vitascope/proto/auth/v1/organisation'
import { SignInLinkServiceService } from '@vitascope/proto/auth/v1/sign_in_link'
import { UserServiceService } from '@vitascope/proto/auth/v1/user'
import { CaptionServiceService } from '@vitascope/proto/catalogue/v1/caption'
import { ContactFormServiceService } from '@vitascope/proto/catalogue/v1/contact_form'
import { DownloadServiceService } from '@vitascope/proto/catalogue/v1/download'
import { EncodingFormatServiceService } from '@vitascope/proto/catalogue/v1/encoding_format'
import { EventServiceService } from '@vitascope/proto/catalogue/v1/event'
import { FolderServiceService } from '@vitascope/proto/catalogue/v1/folder'
import { IdServiceService } from '@vitascope/proto/catalogue/v1/id'
import { JobServiceService } from '@vitascope/proto/catalogue/v1/job'
import { LocationServiceService } from '@vitascope/proto/catalogue/v1/location'
import { MailServiceService } from '@vitascope/proto/catalogue/v1/mail'
import { MediaServiceService } from '@vitascope/proto/catalogue/v1/media'
import { MetadataServiceService } from '@vitascope/proto/catalogue/v1/metadata'
import { OrganisationReplicaServiceService } from '@vitascope/proto/catalogue/v1/organisation_replica'
import { OverlayServiceService } from '@vitascope/proto/catalogue/v1/overlay'
import { PlaybackKeyServiceService } from '@vitascope/proto/catalogue/v1/playback_key'
import { PlaybackPolicyServiceService } from '@vitascope/proto/catalogue/v1/playback_policy'
import { PlaybackRulesServiceService } from '@vitascope/proto/catalogue/v1/playback_rules'
import { PlaybackSessionServiceService } from '@vitascope/proto/catalogue/v1/playback_session'
import { PlaylistServiceService } from '@vitascope/proto/catalogue/v1/playlist'
import { PosterServiceService } from '@vitascope/proto/catalogue/v1/poster'
import { PresentationServiceService } from '@vitascope/proto/catalogue/v1/presentation'
import { PublicVideoServiceService } from '@vitascope/proto/catalogue/v1/public_video'
import { QuotaServiceService } from '@vitascope/proto/catalogue/v1/quota'
import { SecurityServiceService } from '@vitascope/proto/catalogue/v1/security'
import { SettingServiceService } from '@vitascope/proto/catalogue/v1/setting'
import { TagServiceService } from '@vitascope/proto/catalogue/v1/tag'
import { ThemeServiceService } from '@vitascope/proto/catalogue/v1/theme'
import { VideoServiceService } from '@vitascope/proto/catalogue/v1/video'
import { VideoSummaryServiceService } from '@vitascope/proto/catalogue/v1/video_summary'
import { WebhookServiceService } from '@vitascope/proto/catalogue/v1/webhook'
import { JobServiceService as EncodingJobServiceService } from '@vitascope/proto/encoding/v1/job'
import { openMasterKeys, openTokenKeys } from '@vitascope/security'
import { type RunningGrpcService, type ServiceBase, type ServiceParts, startGrpcService } from '@vitascope/service'
import { createKeyFileReports, type Logger } from '@vitascope/telemetry'
import { registerBacklogGauges } from './backlog-gauges.ts'
import { captionHandlers } from './caption/caption-rpc.ts'
import { createSourceReader } from './caption/caption-source.ts'
import { createCaptionStore } from './caption/caption-store.ts'
import { cdnPurgeHandlers } from './cdn/cdn-purge.ts'
import type { CatalogueConfig } from './config.ts'
import { contactFormHandlers } from './contact-form/contact-form-rpc.ts'
import { createContactFormStore } from './contact-form/contact-form-store.ts'
import { createSubmissionStore } from './contact-form/submission-store.ts'
import { createDownloads } from './download/create-download.ts'
import { downloadHandlers } from './download/download-rpc.ts'
import { createDownloadStore } from './download/download-store.ts'
import { folderHandlers } from './folder/folder-rpc.ts'
import { createFolderStore } from './folder/folder-store.ts'
import { idHandlers } from './id/id-rpc.ts'
import { createIdStore } from './id/id-store.ts'
import { createFindAllowedIps } from './ip-allowlist/address-check.ts'
import { ipAllowlistHandlers } from './ip-allowlist/ip-allowlist-rpc.ts'
import { locationHandlers } from './location/location-rpc.ts'
import { createPlacedVideoStore } from './location/placed-video-store.ts'
import { createPostcodeStore } from './location/postcode-store.ts'
import { metadataHandlers } from './metadata/metadata-rpc.ts'
import { createMetadataStore } from './metadata/metadata-store.ts'
import { eventHandlers } from './notification/event/event-rpc.ts'
import { createEventStore, EVENTS_PER_SWEEP } from './notification/event/event-store.ts'
import { mailHandlers } from './notification/mail/mail-rpc.ts'
import { createMailStore } from './notification/mail/mail-store.ts'
import { createMailTransport } from './notification/mail/mail-transport.ts'
import { createFindRecipient, createIssueSignInLink, createMailer } from './notification/mail/mailer.ts'
import { deliveryRetention } from './notification/webhook/delivery-retention.ts'
import { createDeliveryStore } from './notification/webhook/delivery-store.ts'
import { createSendingStore } from './notification/webhook/sending-store.ts'
import { webhookHandlers } from './notification/webhook/webhook-rpc.ts'
import { createSecretCipher } from './notification/webhook/webhook-secret.ts'
import { createWebhookSender } from './notification/webhook/webhook-sender.ts'
import { createWebhookStore } from './notification/webhook/webhook-store.ts'
import { createOrganisations } from './organisation-replica/organisation.ts'
import { createAuthLookup, organisationReplicaHandlers } from './organisation-replica/organisation-replica-rpc.ts'
import { createOrganisationStore } from './organisation-replica/organisation-store.ts'
import { overlayHandlers } from './overlay/overlay-rpc.ts'
import { createOverlayStore } from './overlay/overlay-store.ts'
import { createPerOrganisationTransactions } from './per-organisation-transactions.ts'
import { playbackKeyHandlers } from './playback-key/playback-key-rpc.ts'
import { createPlaybackKeyStore } from './playback-key/playback-key-store.ts'
import { playbackPolicyHandlers } from './playback-policy/playback-policy-rpc.ts'
import { createPlaybackPolicyStore } from './playback-policy/playback-policy-store.ts'
import { playbackRulesHandlers } from './playback-policy/playback-rules-rpc.ts'
import { createPlaybackRulesStore } from './playback-rules/playback-rules-store.ts'
import { playbackSessionHandlers } from './playback-session/playback-session-rpc.ts'
import { createPlaybackSessionStore } from './playback-session/playback-session-store.ts'
import { playlistHandlers } from './playlist/playlist-rpc.ts'
import { createPlaylistStore } from './playlist/playlist-store.ts'
import { posterJobReports } from './poster/poster-job-reports.ts'
import { posterHandlers } from './poster/poster-rpc.ts'
import { createPosterStore } from './poster/poster-store.ts'
import { sendPostersToEncodingHandlers } from './poster/send-posters-to-encoding.ts'
import { createStalePosterJobs } from './poster/stale-poster-jobs-store.ts'
import { createPresentationPolicies } from './presentation/presentation-policy.ts'
import { presentationHandlers } from './presentation/presentation-rpc.ts'
import { createPresentationStore } from './presentation/presentation-store.ts'
import { sendSlidesToEncodingHandlers } from './presentation/send-slides-to-encoding.ts'
import { slideJobReports } from './presentation/slide-job-reports.ts'
import { createSlideJobStore } from './presentation/slide-job-store.ts'
import { createStaleSlideJobs } from './presentation/stale-slide-jobs-store.ts'
import { createOpenVideosStore } from './public-video/open-videos-store.ts'
import { publicVideoHandlers } from './public-video/public-video-rpc.ts'
import { encodingFormatHandlers } from './publishing/encoding-format/encoding-format-rpc.ts'
import { createEncodingFormatStore } from './publishing/encoding-format/encoding-format-store.ts'
import { createAfterFailover } from './publishing/job/after-failover.ts'
import { type ReconcileTimes, reconcileJobs } from './publishing/job/reconcile.ts'
import { createStaleEncodeJobs } from './publishing/job/stale-encode-jobs-store.ts'
import { jobHandlers } from './publishing/job-rpc.ts'
import { createJobStore } from './publishing/job-store.ts'
import { mediaHandlers } from './publishing/media-rpc.ts'
import { createMediaStore } from './publishing/media-store.ts'
import { createRetryJob } from './publishing/retry-job.ts'
import { sendToEncodingHandlers } from './publishing/send-to-encoding.ts'
import { quotaHandlers } from './quota/quota-rpc.ts'
import { createUploadReservations } from './quota/upload-reservation.ts'
import { createUsageCheck } from './quota/usage-check.ts'
import { createPasswordHasher } from './setting/password-hash.ts'
import { rotateUrlsHandlers } from './setting/rotate-urls.ts'
import { settingHandlers } from './setting/setting-rpc.ts'
import { createSettingStore } from './setting/setting-store.ts'
import { tagHandlers } from './tag/tag-rpc.ts'
import { createTagStore } from './tag/tag-store.ts'
import { themeHandlers } from './theme/theme-rpc.ts'
import { createThemeStore } from './theme/theme-store.ts'
import { createCaptionSearchIndexer } from './video/caption-search-indexer.ts'
import { PUBLIC_CHANGED } from './video/public-changes.ts'
import { createPublishMedia } from './video/publish-media.ts'
import { createUploadStore } from './video/upload-store.ts'
import { createVideoPages } from './video/video-pages.ts'
import { videoHandlers } from './video/video-rpc.ts'
import { createVideoStore } from './video/video-store.ts'
import { createVideoSweep } from './video/video-sweep.ts'
import { createVideoTokens } from './video/video-token.ts'
import { requirePublicVideo, requireVisibleVideo } from './video/visible-video.ts'
import { videoSummaryHandlers } from './video-summary/video-summary-rpc.ts'
import { createVideoSummaryStore } from './video-summary/video-summary-store.ts'

/**
 * `maxErrors` of the outboxes. The attempts take about four minutes. After that the reconciler sends the job
 * again or ends it.
 */
const SEND_ATTEMPTS = 20
/** Interval of the failover check. It reads a table of one or two rows. */
const FAILOVER_EVERY_MS = 1_000
const SWEEP_EVERY_MS = 60_000
const MAIL_EVERY_MS = 1_000
const DELIVERY_TRIM_EVERY_MS = 600_000
const USAGE_EVERY_MS = 3_600_000
/** Interval at which watchers of public changes are informed that no change is missing. */
const PUBLIC_CHANGES_EVERY_MS = 250
/** New captions become searchable after at most about this time. */
const SEARCH_INDEX_EVERY_MS = 500
/** Timeout for one media. Indexing 250,000 characters takes up to two seconds. */
const SEARCH_INDEX_TIMEOUT_MS = 30_000

export function startCatalogue(config: CatalogueConfig, log: Logger): Promise<RunningGrpcService> {
  const options = { name: 'catalogue', config, log, dense: ['video_search_serial'] }
  return startGrpcService(options, (base) => assemble(config, base))
}

function assemble(config: CatalogueConfig, base: ServiceBase): ServiceParts {
  const { log, metrics } = base
  const { countryDatabaseFile } = config
  const countries = countryDatabaseFile === undefined ? NO_COUNTRIES : openCountries(countryDatabaseFile, { log, metrics })
  const reportsOf = createKeyFileReports({ log, metrics })
  const masterKeys = openMasterKeys(config.masterKeyFile, reportsOf('master-key'))
  const tokenKeys = openTokenKeys(config.tokenKeysFile, reportsOf('token-keys'))
  const perOrganisation = createPerOrganisationTransactions()
  const db = perOrganisation.db(base.openDatabase())
  // The outbox has its own pool, because it holds connections while it sends. Requests must not
  // wait for them.
  const outboxDb = base.openDatabase()
  // Indexing large captions is slow, so it has its own pool and runs for one media at a time.
  const searchIndexDb = base.openDatabase({ poolSize: 1, statementTimeoutMs: SEARCH_INDEX_TIMEOUT_MS })
  // Webhooks and mails have their own pool, because they run many short transactions.
  const notificationDb = base.openDatabase({ poolSize: 2 })
  const auth = base.openChannel('auth', config.authAddress)
  const encoding = base.openChannel('encoding', config.encodingAddress).client(EncodingJobServiceService)

  const handlers = {
    ...sendToEncodingHandlers(encoding, () => jobs, log),
    ...sendSlidesToEncodingHandlers(encoding, () => slideJobs, log),
    ...sendPostersToEncodingHandlers(encoding, () => posters, log),
    ...rotateUrlsHandlers(db, () => enqueue),
  }
  const outbox = createOutbox({ db: outboxDb, handlers, log, maxErrors: SEND_ATTEMPTS })
  // The purge URL is called by a separate outbox, because a slow receiver must not delay messages to encoding.
  const cdnPurges = createOutbox({
    db: base.openDatabase({ poolSize: 1 }),
    handlers: cdnPurgeHandlers(config.cdnPurge, metrics, log),
    log,
    maxErrors: SEND_ATTEMPTS,
    concurrency: 1,
  })
  const { enqueue } = outbox
  const jobs = createJobStore(db, enqueue)
  const staleJobs = createStaleEncodeJobs(db, enqueue)
  const slideJobs = createSlideJobStore(db, enqueue)
  const staleSlideJobs = createStaleSlideJobs(db, enqueue)
  const posters = createPosterStore(db, enqueue)
  const stalePosterJobs = createStalePosterJobs(db, enqueue)
  const videos = createVideoStore(db)
  const videoSweep = createVideoSweep(db)
  const captionSearchIndexer = createCaptionSearchIndexer(searchIndexDb, log)
  const policies = createPlaybackPolicyStore(db)
  const playbackSessions = createPlaybackSessionStore(db)
  const downloads = createDownloadStore(db)
  const replicas = createOrganisationStore(db)
  const organisations = createOrganisations(replicas, createAuthLookup(auth.client(OrganisationServiceService)))
  const folders = createFolderStore(db)
  const findSource = (jobId: string, { requestId, signal }: Pick<Call, 'requestId' | 'signal'>) =>
    encoding.findSource({ jobId }, serviceCall('catalogue', requestId, signal))
  const tokens = createVideoTokens(db, videos, tokenKeys, masterKeys)

  const publicChanges = createNotifications({
    url: config.directDatabaseUrl ?? config.databaseUrl,
    channel: PUBLIC_CHANGED,
    applicationName: 'vitascope-catalogue-listen',
    log,
    heartbeatMs: PUBLIC_CHANGES_EVERY_MS,
  })

  const server = perOrganisation.server(base.server)
  const lists = createVideoPages(db)
  server.implement(
    VideoServiceService,
    videoHandlers({
      videos,
      lists,
      uploads: createUploadStore(db, enqueue),
      tokens,
      organisations,
      folders,
      publicChanges,
    }),
  )
  server.implement(
    PublicVideoServiceService,
    publicVideoHandlers({ lists, openVideos: createOpenVideosStore(db), countries, publicUrl: config.publicUrl }),
  )
  server.implement(
    MediaServiceService,
    mediaHandlers({ media: createMediaStore(db, enqueue), publishMedia: createPublishMedia(db), organisations }),
  )
  const otherJobs = [slideJobReports(slideJobs), posterJobReports(posters)]
  server.implement(JobServiceService, jobHandlers({ jobs, retryJob: createRetryJob(db, enqueue), otherJobs, organisations }))
  server.implement(EncodingFormatServiceService, encodingFormatHandlers(createEncodingFormatStore(db, enqueue), organisations))
  server.implement(PosterServiceService, posterHandlers(posters))
  const reservations = createUploadReservations(db, config.uploadsPerOrganisation)
  server.implement(QuotaServiceService, quotaHandlers(db, { reservations, organisations }))
  server.implement(VideoSummaryServiceService, videoSummaryHandlers(createVideoSummaryStore(db)))
  server.implement(PlaybackPolicyServiceService, playbackPolicyHandlers(policies, createPresentationPolicies(db)))
  const createDownload = createDownloads({ db, videos, tokenKeys, findSource })
  server.implement(DownloadServiceService, downloadHandlers({ downloads, createDownload, organisations }))
  server.implement(PlaybackSessionServiceService, playbackSessionHandlers(playbackSessions))
  server.implement(PlaybackKeyServiceService, playbackKeyHandlers(createPlaybackKeyStore(db), organisations))
  server.implement(
    PlaybackRulesServiceService,
    playbackRulesHandlers({
      rules: createPlaybackRulesStore(db),
      policies,
      organisations,
      tokenKeys,
      publicHost: new URL(config.publicUrl).host,
      countries,
    }),
  )
  server.implement(
    PresentationServiceService,
    presentationHandlers({ presentations: createPresentationStore(db, enqueue), slideJobs, organisations }),
  )
  server.implement(OrganisationReplicaServiceService, organisationReplicaHandlers(replicas))
  server.implement(PlaylistServiceService, playlistHandlers(createPlaylistStore(db), organisations))
  const themes = createThemeStore(db)
  const findVisibleVideo = requireVisibleVideo.bind(undefined, { videos, tokens })
  server.implement(
    SettingServiceService,
    settingHandlers({
      settings: createSettingStore(db, enqueue),
      themes,
      contactForms: createContactFormStore(db),
      findVisibleVideo,
      organisations,
      passwordHasher: createPasswordHasher(),
      tokenKeys,
    }),
  )
  server.implement(ThemeServiceService, themeHandlers(themes, organisations))
  server.implement(SecurityServiceService, ipAllowlistHandlers(createFindAllowedIps(db)))
  server.implement(MetadataServiceService, metadataHandlers(createMetadataStore(db)))
  server.implement(TagServiceService, tagHandlers(createTagStore(db), organisations))
  server.implement(FolderServiceService, folderHandlers(folders, organisations))
  const events = createEventStore(db)
  server.implement(EventServiceService, eventHandlers(events))
  server.implement(IdServiceService, idHandlers(createIdStore(db)))
  const policy = sourcePolicy({ allow: config.sourceAllow })
  const captionReader = createCaptionReader()
  const readCaptions = createSourceReader(sourcePolicy({ allow: config.sourceAllow, proxy: config.sourceProxy }), captionReader)
  server.implement(CaptionServiceService, captionHandlers(createCaptionStore(db), readCaptions))
  const webhooks = createWebhookStore(db, masterKeys)
  const deliveries = createDeliveryStore(db)
  const checkAddress = (url: string) => checkUrl(url, policy)
  server.implement(WebhookServiceService, webhookHandlers({ webhooks, deliveries, organisations, checkAddress }))
  const cipher = createSecretCipher(masterKeys)
  const sender = createWebhookSender({ store: createSendingStore(notificationDb), cipher, policy, log })
  const mails = createMailStore(notificationDb)
  const send = createMailTransport(config.mail, log)
  server.implement(MailServiceService, mailHandlers(createMailStore(db)))
  const findRecipient = createFindRecipient(auth.client(UserServiceService))
  const issueSignInLink = createIssueSignInLink(auth.client(SignInLinkServiceService))
  const mailer = send && createMailer({ store: mails, send, findRecipient, issueSignInLink, publicUrl: config.publicUrl, log })
  server.implement(OverlayServiceService, overlayHandlers(createOverlayStore(db), organisations))
  const forms = { forms: createContactFormStore(db), submissions: createSubmissionStore(db) }
  server.implement(
    ContactFormServiceService,
    contactFormHandlers({ ...forms, requirePublicVideo: requirePublicVideo.bind(undefined, videos), organisations }),
  )
  const locationStores = { postcodes: createPostcodeStore(db), videos: createPlacedVideoStore(db) }
  server.implement(LocationServiceService, locationHandlers({ ...locationStores, organisations }))

  registerBacklogGauges(metrics, db, { sendsMails: send !== undefined })
  const differences = metrics.counter(
    'vitascope_catalogue_usage_differences_total',
    'Usage totals of organisations that did not match the sums of their rows',
  )
  const usageCheck = createUsageCheck(searchIndexDb, log, () => differences.inc())
  const { everyMs, ...times } = config.reconcile
  const tables = [
    ...commonRetainedTables(db),
    { table: 'delivery_set', remove: policies.sweep },
    { table: 'download_report', remove: downloads.sweep },
    { table: 'playback_session', remove: playbackSessions.sweep },
    deliveryRetention(db),
    { table: 'upload_reservation', remove: reservations.sweep },
    { table: 'event', remove: events.sweep, limit: EVENTS_PER_SWEEP },
    { table: 'mail', remove: mails.sweep },
  ]
  const rounds = [
    (times: ReconcileTimes, signal: AbortSignal) => reconcileJobs({ staleJobs, jobs, encoding, log, ...times }, signal),
    (times: ReconcileTimes, signal: AbortSignal) =>
      reconcileJobs({ staleJobs: staleSlideJobs, jobs: slideJobs, encoding, log, ...times }, signal),
    (times: ReconcileTimes, signal: AbortSignal) =>
      reconcileJobs({ staleJobs: stalePosterJobs, jobs: posters, encoding, log, ...times }, signal),
  ]
  const afterFailover = createAfterFailover({ db, rounds, resultSeconds: times.resultSeconds, log })
  return {
    db,
    repairsFailovers: true,
    start() {
      outbox.start()
      cdnPurges.start()
      sender.start()
      // It is not awaited: without a database, catalogue starts and reports that it is not ready.
      void publicChanges.start()
    },
    loops: [
      ...rounds.map((round) => ({ run: (signal: AbortSignal) => round(times, signal).then(() => {}), everyMs })),
      { run: afterFailover, everyMs: FAILOVER_EVERY_MS },
      { run: captionSearchIndexer.indexChanged, everyMs: SEARCH_INDEX_EVERY_MS },
      { run: videoSweep.run, everyMs: SWEEP_EVERY_MS },
      { run: createRetention({ tables, metrics, log }), everyMs: SWEEP_EVERY_MS },
      { run: usageCheck.run, everyMs: USAGE_EVERY_MS },
      { run: deliveries.trim, everyMs: DELIVERY_TRIM_EVERY_MS },
      ...(mailer ? [{ run: mailer.run, everyMs: MAIL_EVERY_MS }] : []),
    ],
    drain: () => publicChanges.stop(),
    finish: () => Promise.all([outbox.stop(), cdnPurges.stop(), sender.stop(), captionReader.close()]),
    close() {
      masterKeys.close()
      tokenKeys.close()
      countries.close()
    },
  }
}
