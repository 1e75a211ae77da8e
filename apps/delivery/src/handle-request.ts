import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { createLoadingCache } from '@vitascope/concurrency'
import type { Countries } from '@vitascope/country'
import { isDomainError } from '@vitascope/errors'
import { decide, isSameHost, isTokenText, type PlaybackRequest, toDomain } from '@vitascope/playback-policy'
import type { TokenDownload, TokenKeyFile } from '@vitascope/security'
import type { ObjectStorage, PresignUrl } from '@vitascope/storage'
import { create } from 'content-disposition'
import { accelRedirect } from './accel-redirect.ts'
import { isOtherPoster, locateFile, renditionsAddedTo, withVariants } from './added/added-renditions.ts'
import { buildCaptionArchive, isCaptionArchive } from './captions/caption-archive.ts'
import type { CaptionTexts } from './captions/caption-texts.ts'
import { parseCaptionPath } from './captions/hls-captions.ts'
import { serveCaptions } from './captions/serve-captions.ts'
import { type DeliveryPath, parseDeliveryPath, withToken } from './delivery-path.ts'
import type { DeliveryPolicy } from './delivery-policy.ts'
import type { DownloadCounts } from './download-counts.ts'
import { findKind } from './file-kind.ts'
import { checkSession } from './limited-session.ts'
import { createStreamReader, type ObjectReader } from './object/send-object.ts'
import type { PolicyCache } from './policy-cache.ts'
import { type PreviewFiles, parsePreviewJobId } from './preview-playlist/preview-files.ts'
import { sendProblem, sendRejection } from './problem.ts'
import { isRedirected, redirectToBucket } from './redirect-to-bucket.ts'
import type { RejectionReports } from './rejection-reports.ts'
import { findHeight, NO_HEIGHTS, type RenditionHeights, readHeights, withoutHigherVariants } from './rendition-heights.ts'
import { hasTooManyRanges } from './response/range-header.ts'
import { sendText } from './response/send-text.ts'
import { PLAYLIST_TYPE, serveObject } from './response/serve-object.ts'
import type { SessionTracker } from './session-tracker.ts'
import { createTokenVerifier } from './token-verifier.ts'
import { limitTraffic, type TrafficParts } from './traffic/limit-traffic.ts'

/** Maximum age of a policy that does not contain the requested version: requests for old URLs load it at most this often. */
const RECENT_MS = 50

export interface DeliveryParts extends TrafficParts {
  policies: PolicyCache
  storage: ObjectStorage
  /**
   * Opens files that are sent, from memory or storage. For a bucket, reads are piecewise, so that a
   * slow client does not occupy a storage connection.
   */
  objects: ObjectReader
  /** Signs URLs of the bucket; undefined for a file store. */
  presign: PresignUrl | undefined
  /** True if clients are redirected to the bucket. */
  isRedirecting: boolean
  captionTexts: CaptionTexts
  preview: PreviewFiles
  tokenKeys: TokenKeyFile
  /** Host and port of the platform's own pages. They may also have the host of the request. */
  pageHost: string | undefined
  countries: Countries
  sessions: SessionTracker
  downloadCounts: Pick<DownloadCounts, 'add'>
  rejections: RejectionReports
  /** Reports a request that is allowed, for a file that the set with this prefix does not have. */
  reportMissingFile(id: string, prefix: string): void
}

export interface RequestOptions {
  /** Address of the client. */
  address: string
  /** Path of the location of nginx that sends the files; undefined if delivery sends them. */
  accelPath?: string | undefined
  /** Aborts when the client disconnects. */
  signal: AbortSignal
}

/**
 * Returns the handler of file requests. For a frequently requested file it only reads the cached
 * policy, the cached result of the token verification, and one open file.
 */
export function createRequestHandler(parts: DeliveryParts) {
  const verify = createTokenVerifier(parts.tokenKeys)
  const readSetHeights = createHeightReader(parts)
  return async (request: IncomingMessage, response: ServerResponse, { address, accelPath, signal }: RequestOptions): Promise<void> => {
    // Players on other origins read playlists and segments by script.
    response.setHeader('Access-Control-Allow-Origin', '*')
    response.setHeader('Access-Control-Expose-Headers', 'Content-Length, Content-Range, ETag')
    response.setHeader('X-Content-Type-Options', 'nosniff')
    if (request.method === 'OPTIONS') {
      const allowed = {
        'Access-Control-Allow-Methods': 'GET, HEAD',
        'Access-Control-Allow-Headers': 'Range, If-Range',
        'Access-Control-Max-Age': '86400',
      }
      response.writeHead(204, allowed).end()
      return
    }
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return sendProblem(response, 405, 'method_not_allowed', { Allow: 'GET, HEAD, OPTIONS' })
    if (hasTooManyRanges(request.headers.range)) return sendProblem(response, 416, 'too_many_ranges')

    const [path = '', query = ''] = (request.url ?? '').split('?', 2)
    const requested = parseDeliveryPath(path)
    if (!requested) return sendProblem(response, 404, 'not_found')
    const queried = new URLSearchParams(query).get('token')
    if (queried && requested.token === undefined) {
      if (!isTokenText(queried)) return sendRejection(response, { code: 'token_malformed' })
      response.writeHead(302, { Location: withToken(requested, queried), 'Cache-Control': 'no-store' }).end()
      return
    }

    /** A request that is decided again uses the limits of traffic once. */
    let isCounted = false
    const serve = async (maxAgeMs?: number): Promise<void> => {
      const policy = await parts.policies.get(requested, maxAgeMs === undefined ? {} : { maxAgeMs })
      if (!policy) return sendProblem(response, 404, 'not_found')
      const token =
        requested.token === undefined ? undefined : await verify(requested.token, { videoId: policy.videoId, address, keys: policy.keys })
      // The version must be one of the video's sets, so that rotated URLs stop working.
      const set = policy.sets.find(({ version }) => version === requested.version)
      // The URLs may have changed since the policy was cached.
      if (!set) return maxAgeMs === undefined ? serve(RECENT_MS) : sendProblem(response, 404, 'not_found')
      // The poster may have changed, too. Each poster has another URL.
      if (maxAgeMs === undefined && isOtherPoster(requested.file, policy.poster)) return serve(RECENT_MS)
      try {
        const kind = findKind(requested)
        const maxHeight = token?.claims?.maxHeight
        const download = token?.download
        const heights = maxHeight === undefined ? undefined : await readSetHeights(policy, set.prefix)
        const page = readPage(request, parts.pageHost)
        const decision = decide(policy.rules, {
          ...{ kind, address, token, country: parts.countries.find(address), now: new Date() },
          height: heights && findHeight(requested.file, kind, heights),
          ...page,
        })
        parts.rejections.report(decision.reported, { videoId: policy.videoId, address })
        if (!decision.allowed) {
          const { code = 'not_found', message, claim } = decision
          parts.rejections.count(code)
          return sendRejection(response, { code, message, claim })
        }
        const ended = checkSession(parts.sessions, request, { policy, kind, token, requested, address })
        if (ended) {
          parts.rejections.count(ended)
          return sendRejection(response, { code: ended })
        }
        const allowed = { policy, requested, kind, address, token, decision, page }
        if (!isCounted && limitTraffic(parts, { request, response }, allowed)) return
        isCounted = true
        const open = policy.isOpen && token === undefined
        const file: ServedFile = {
          request,
          response,
          ...requested,
          prefix: set.prefix,
          open,
          maxHeight,
          download,
          expires: policy.rules.expires,
          accelPath,
          signal,
        }
        await serveFile(parts, file, policy)
        if (download && startsDownload(request, response)) parts.downloadCounts.add(policy.videoId, download)
        return
      } catch (error) {
        const isMissing = isDomainError(error) && (error.kind === 'not_found' || error.reason === 'BAD_OBJECT_NAME')
        if (!isMissing) throw error
        // A set that was in progress may have been finished since the policy was cached.
        if (parsePreviewJobId(set.prefix) !== undefined && maxAgeMs !== 0) return serve(0)
        parts.reportMissingFile(requested.id, set.prefix)
        sendProblem(response, 404, 'not_found')
      }
    }
    await serve()
  }
}

interface ServedFile {
  request: IncomingMessage
  response: ServerResponse
  kind: DeliveryPath['kind']
  id: string
  version: string
  prefix: string
  open: boolean
  /** The file that the token names, which is saved; undefined for files that are played. */
  download: TokenDownload | undefined
  /** Maximum height in pixels of the renditions that the token admits; undefined without a limit. */
  maxHeight: number | undefined
  expires: Date | undefined
  file: string
  accelPath: string | undefined
  signal: AbortSignal
}

async function serveFile(parts: DeliveryParts, requested: ServedFile, { captions, added, poster }: DeliveryPolicy) {
  const { storage, objects, presign, captionTexts: texts, preview } = parts
  const { request, response, open, accelPath, signal, download } = requested
  if (download) response.setHeader('Content-Disposition', create(download.name))
  const caching = { isPublic: open, expires: requested.expires, tags: `${requested.kind}-${requested.id},version-${requested.version}` }
  // HEAD reads no bytes.
  const reader = request.method === 'HEAD' ? createStreamReader(storage) : objects
  if (download?.object !== undefined) {
    if (accelPath !== undefined) return accelRedirect(response, { path: accelPath, name: download.object, caching, presign })
    return serveObject(request, response, { objects: reader, name: download.object, caching }, signal)
  }
  if (download && isCaptionArchive(download.path, captions)) {
    return sendText(request, response, await buildCaptionArchive(texts, captions.tracks), { type: 'application/zip', open })
  }
  const target = download ? { ...requested, file: download.path } : requested
  const { prefix, file } = locateFile(target.file, target.prefix, { added, poster })
  const jobId = parsePreviewJobId(prefix)
  const captionFile = parseCaptionPath(target.file, captions)
  if (captionFile) {
    const { maxHeight } = target
    const readMaster = async () => {
      const master = await readMasterPlaylist(parts, target, { captions, added })
      return maxHeight === undefined ? master : withoutHigherVariants(master, maxHeight)
    }
    return serveCaptions(
      request,
      response,
      { texts, readMaster },
      { file: captionFile, settings: captions, open, isSaved: download !== undefined },
    )
  }
  if (jobId !== undefined && file.endsWith('.m3u8')) {
    return sendText(request, response, Buffer.from(await preview.getPlaylist(jobId, file)), { type: PLAYLIST_TYPE, open })
  }
  const name = jobId === undefined ? `${prefix}/${file}` : await preview.getObjectName(jobId, file)
  if (isRedirected(name)) {
    // Files of a set in progress may move when it is finished, so delivery sends them itself.
    if (accelPath !== undefined && jobId === undefined) return accelRedirect(response, { path: accelPath, name, caching, presign })
    // The bucket would not send the name under which the file is saved.
    if (presign && parts.isRedirecting && !download) return redirectToBucket(request, response, presign, name)
  }
  return serveObject(request, response, { objects: reader, name, caching }, signal)
}

/**
 * Returns the master playlist of the set without captions, including added renditions. A master
 * playlist of a finished set has a few kilobytes.
 */
async function readMasterPlaylist(
  { storage, preview }: DeliveryParts,
  { prefix, signal }: Pick<ServedFile, 'prefix' | 'signal'>,
  { captions, added }: Pick<DeliveryPolicy, 'captions' | 'added'>,
): Promise<string> {
  const jobId = parsePreviewJobId(prefix)
  const read = async (from: string) => text((await storage.open(`${from}/${captions.masterPath}`, { signal })).stream)
  const own = jobId === undefined ? await read(prefix) : await preview.getPlaylist(jobId, captions.masterPath)
  // A deleted rendition is not listed; the set plays without it.
  const readAdded = (from: string) =>
    read(from).catch((error: unknown) => {
      if (isDomainError(error) && error.kind === 'not_found') return ''
      throw error
    })
  const others = await Promise.all(
    renditionsAddedTo(prefix, added).map(async (rendition) => ({ jobId: rendition.jobId, text: await readAdded(rendition.prefix) })),
  )
  return others.reduce(withVariants, own)
}

/**
 * Returns a function that reads the heights of the renditions of a set. Only tokens with a maximum height need them. They
 * are cached for as long as a policy, because a set in progress gets more renditions.
 */
function createHeightReader(parts: DeliveryParts) {
  const cache = createLoadingCache<RenditionHeights>({ max: 1_000, ttlMs: () => 2_000 })
  return ({ captions, added }: DeliveryPolicy, prefix: string): Promise<RenditionHeights> => {
    if (captions.masterPath === '') return Promise.resolve(NO_HEIGHTS)
    // Several requests wait for one read. The read therefore does not end with the request that started it.
    const signal = AbortSignal.timeout(10_000)
    return cache.get(prefix, async () => readHeights(await readMasterPlaylist(parts, { prefix, signal }, { captions, added })))
  }
}

/**
 * Returns the page that requests the file. Scripts of other origins send `Origin`, and `Referer` without the path or not
 * at all. Media elements send only `Referer`.
 */
function readPage({ headers }: IncomingMessage, pageHost: string | undefined): Pick<PlaybackRequest, 'referrer' | 'domain' | 'isOwnPage'> {
  const { origin, referer } = headers
  const page = origin ?? referer
  return { referrer: referer ?? origin, domain: toDomain(page), isOwnPage: isSameHost(page, pageHost) || isSameHost(page, headers.host) }
}

/** Returns whether a response begins at the first byte of a file. Programs that save files load the rest in further ranges. */
function startsDownload({ method, headers }: IncomingMessage, response: ServerResponse): boolean {
  // nginx handles the range of a file that it sends.
  const range = response.getHeader('Content-Range') ?? (response.hasHeader('X-Accel-Redirect') ? headers.range : undefined) ?? 'bytes=0-'
  return method === 'GET' && response.statusCode < 300 && /^bytes[= ]0-/.test(String(range))
}
