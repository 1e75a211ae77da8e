import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { hostAndPort } from '@vitascope/config'
import { NO_COUNTRIES, openCountries } from '@vitascope/country'
import { isDomainError } from '@vitascope/errors'
import { createPlatformServer, openChannel, openIdentity, openPrincipalKeys, serviceCall } from '@vitascope/grpc'
import { downloadProgress, drainServer, type RunningService } from '@vitascope/process'
import { CaptionServiceService } from '@vitascope/proto/catalogue/v1/caption'
import { DownloadServiceService } from '@vitascope/proto/catalogue/v1/download'
import { EventServiceService } from '@vitascope/proto/catalogue/v1/event'
import { PlaybackPolicyServiceService } from '@vitascope/proto/catalogue/v1/playback_policy'
import { PlaybackSessionServiceService } from '@vitascope/proto/catalogue/v1/playback_session'
import { PreviewPlaylistServiceService } from '@vitascope/proto/encoding/v1/preview_playlist'
import { createThrottleReports } from '@vitascope/rate-limit'
import { type AddressRules, clientAddress, openTokenKeys, toWidestNetwork } from '@vitascope/security'
import { createUrlSigner, openStorage } from '@vitascope/storage'
import {
  createKeyFileReports,
  createLogLimit,
  createMetrics,
  type Logger,
  observeStorage,
  readTraceparent,
  type SpanDescription,
  serveMetrics,
  tracedFrom,
} from '@vitascope/telemetry'
import { createCaptionTexts } from './captions/caption-texts.ts'
import type { DeliveryConfig } from './config.ts'
import { createDownloadCounts } from './download-counts.ts'
import { createDownloadLimiter } from './download-limiter.ts'
import { createRequestHandler } from './handle-request.ts'
import { createObjectCache } from './object/object-cache.ts'
import { createObjectReader } from './object/send-object.ts'
import { createStorageReads } from './object/storage-reads.ts'
import { createPolicyCache } from './policy-cache.ts'
import { createPreviewFiles } from './preview-playlist/preview-files.ts'
import { sendProblem } from './problem.ts'
import { listenPublicly } from './public-server.ts'
import { createRejectionReports } from './rejection-reports.ts'
import { onFirstByte } from './response/first-byte.ts'
import { createSessionTracker } from './session-tracker.ts'
import { createCrawlerCheck } from './traffic/crawlers.ts'
import { createTrafficLimits } from './traffic/traffic-limits.ts'

/** Requests that are still running after this time are aborted. Players request the rest as a range. */
const DRAIN_MS = 3_000
/** For playlists and sizes, which are requested in addition to the files that are sent. */
const SPARE_SOCKETS = 16
/** nginx's status for a client that disconnected before the response began. */
const CLIENT_CLOSED_REQUEST = 499
/** Failures for one reason are logged at most once in this time. */
const REPORT_INTERVAL_MS = 10_000
/** Shorter than the timeout of a readiness probe. */
const READY_MS = 800

export async function startDelivery(
  config: DeliveryConfig,
  log: Logger,
): Promise<RunningService & { address: string; metricsPort: number }> {
  const metrics = createMetrics('delivery')
  const seconds = metrics.seconds('vitascope_delivery_request_duration_seconds', 'Duration of requests for files, by status', ['status'])
  const firstByteSeconds = metrics.seconds(
    'vitascope_delivery_first_byte_seconds',
    'Time from a request for a media file to the start of its response',
  )
  const sentBytes = metrics.counter(
    'vitascope_delivery_sent_bytes_total',
    'Bytes that were sent to viewers, without those that nginx or a bucket sends',
  )
  const identity = openIdentity(config.tls, { log, metrics })
  const principals = openPrincipalKeys('delivery', config.principalKeys, { log, metrics })
  const reportsOf = createKeyFileReports({ log, metrics })
  const tokenKeys = openTokenKeys(config.tokenKeysFile, reportsOf('token-keys'))
  const channel = openChannel(config.catalogueAddress, { service: 'catalogue', principals, identity })
  const encoding = openChannel(config.encodingAddress, { service: 'encoding', principals, identity })
  const storage = await openStorage(config.objects, {
    maxSockets: config.storageReads + SPARE_SOCKETS,
    onRequest: observeStorage(metrics),
    keyListener: reportsOf('s3-keys'),
  })
  const { countryDatabaseFile } = config
  const countries = countryDatabaseFile === undefined ? NO_COUNTRIES : openCountries(countryDatabaseFile, { log, metrics })
  const sessions = createSessionTracker({ client: channel.client(PlaybackSessionServiceService), log, metrics })
  const downloadCounts = createDownloadCounts({ client: channel.client(DownloadServiceService), log })
  const downloads = createDownloadLimiter(config.downloads, metrics)
  const policies = createPolicyCache({
    policies: channel.client(PlaybackPolicyServiceService),
    outageMs: 1_000 * config.outageSeconds,
    log,
    metrics,
  })
  const events = channel.client(EventServiceService)
  const throttled = createThrottleReports({
    findOrganisation: async (id) => (await policies.get({ kind: 'video', id }))?.organisationId,
    addEvent: (event, signal) => events.addEvent(event, serviceCall('delivery', randomUUID(), signal)),
    log,
  })
  const traffic = createTrafficLimits(config.limits, metrics)
  const limitLog = createLogLimit(REPORT_INTERVAL_MS)
  const missingFiles = metrics.counter(
    'vitascope_delivery_missing_files_total',
    'Requests for files of a set in use that the object store does not have',
  )
  const handle = createRequestHandler({
    policies,
    storage,
    objects: createObjectReader(
      's3' in config.objects ? createStorageReads(storage, config.storageReads, metrics) : storage,
      createObjectCache(config.cacheBytes, metrics),
    ),
    presign: 's3' in config.objects ? createUrlSigner(config.objects.s3) : undefined,
    isRedirecting: config.s3Mode === 'redirect',
    captionTexts: createCaptionTexts(channel.client(CaptionServiceService)),
    preview: createPreviewFiles(encoding.client(PreviewPlaylistServiceService)),
    tokenKeys,
    pageHost: config.publicUrl === undefined ? undefined : new URL(config.publicUrl).host,
    countries,
    sessions,
    downloadCounts,
    rejections: createRejectionReports(log, metrics),
    traffic,
    isCrawler: createCrawlerCheck(config.allowedCrawlers),
    throttled,
    reportMissingFile(id, prefix) {
      missingFiles.inc()
      limitLog('missing', (requests) => log.warn({ video_id: id, prefix, requests }, 'files of a set are missing in the store'))
    },
  })

  const respond = async (request: IncomingMessage, response: ServerResponse, trustedProxies: AddressRules, accelPath?: string) => {
    const end = seconds.startTimer()
    const progress = downloadProgress(response)
    const bytesBefore = progress.bytes()
    onFirstByte(response, firstByteSeconds.startTimer())
    response.setHeader('X-Request-Id', requestId(request.headers['x-request-id']))
    const disconnect = new AbortController()
    response.once('close', () => {
      end({ status: response.headersSent ? response.statusCode : CLIENT_CLOSED_REQUEST })
      sentBytes.inc(progress.bytes() - bytesBefore)
      if (!response.writableFinished) disconnect.abort()
    })
    try {
      if (request.url === '/healthz') response.writeHead(200).end('ok\n')
      else {
        const address = clientAddress(request, trustedProxies)
        response.once('close', downloads.begin({ client: toWidestNetwork(address), ...progress, cut: () => request.socket.destroy() }))
        await handle(request, response, { address, accelPath, signal: disconnect.signal })
      }
    } catch (error) {
      if (disconnect.signal.aborted) return
      if (response.headersSent) response.destroy()
      else if (isDomainError(error) && error.kind === 'exhausted') {
        throttled.note(request.url ?? '')
        sendProblem(response, 429, 'too_many_at_once', { 'Retry-After': '1' })
      } else if (isDomainError(error) && error.kind === 'unavailable') {
        limitLog(error.reason, (requests) =>
          log.warn({ err: error, requests, request_id: response.getHeader('X-Request-Id') }, 'files are temporarily unavailable'),
        )
        sendProblem(response, 503, 'unavailable', { 'Retry-After': '1' })
      } else {
        // Paths can contain tokens, so only the error and the request id are logged.
        log.error({ err: error, request_id: response.getHeader('X-Request-Id') }, 'delivering a file failed')
        sendProblem(response, 500, 'internal')
      }
    }
  }
  const server = createPlatformServer(
    identity,
    { maxHeaderSize: 16_384, headersTimeout: 10_000, requestTimeout: 15_000, keepAliveTimeout: 30_000 },
    (request, response) =>
      // Only the gateway calls this server, so its traces are continued. Those of viewers at the public address are not.
      void tracedFrom(
        readTraceparent(request),
        () => describeRequest(request),
        () => respond(request, response, config.trustedProxies),
      ),
  )
  const { host, port } = hostAndPort(config.listen)
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve))
  const publicServer = await listenPublicly(config, {
    listener: (request, response) => void respond(request, response, config.publicTrustedProxies, config.accelPath),
    onThrottled: throttled.note,
    log,
    metrics,
  })
  let stopping = false
  // Once the catalogue was reached, files of known videos can be served without it.
  let isConnected = false
  const isReady = async () => {
    isConnected ||= await channel.ready(READY_MS)
    return isConnected && !stopping
  }
  const page = await serveMetrics(metrics, hostAndPort(config.metricsListen), log, isReady)
  return {
    address: `${host}:${(server.address() as AddressInfo).port}`,
    metricsPort: page.port,
    async stop(drainMs = DRAIN_MS) {
      stopping = true
      await Promise.all([server, publicServer].map((running) => running && drainServer(running, drainMs)))
      countries.close()
      sessions.close()
      await downloadCounts.close()
      throttled.close()
      traffic.close()
      channel.close()
      encoding.close()
      identity?.close()
      principals.close()
      tokenKeys.close()
      await page.close()
    },
  }
}

/** Paths contain tokens, so there is one template for all. */
function describeRequest({ method = '' }: IncomingMessage): SpanDescription {
  const route = '/delivery/*'
  return { name: `${method} ${route}`, kind: 'server', attributes: { 'http.request.method': method, 'http.route': route } }
}

/** Returns the caller's request id if it is valid, otherwise a new one. */
function requestId(header: string | string[] | undefined): string {
  return typeof header === 'string' && /^[\w.-]{1,64}$/.test(header) ? header : randomUUID()
}
