import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { AddressRules } from '@vitascope/access'
import { type TokenKeys, type TokenVerdict, verifyVideoToken } from '@vitascope/access'
import { isDomainError } from '@vitascope/errors'
import type { ObjectStorage, SigningBucket } from '@vitascope/storage'
import { LRUCache } from 'lru-cache'
import { addedTo, placeOf, withVariants } from './added/added-renditions.ts'
import { admit, type DeliveryRule } from './admission.ts'
import type { CaptionTexts } from './captions/caption-texts.ts'
import { captionFileOf } from './captions/hls-captions.ts'
import { serveCaptions } from './captions/serve-captions.ts'
import { clientAddress } from './client-address.ts'
import { parseDeliveryPath, withToken } from './delivery-path.ts'
import { type EarlyFiles, earlyJob } from './early/early-files.ts'
import { isLedTo, leadToObject } from './lead-to-object.ts'
import { refuse } from './problem.ts'
import type { RuleCache } from './rule-cache.ts'
import { sendText } from './send-text.ts'
import { PLAYLIST_TYPE, serveObject } from './serve-object.ts'

export interface DeliveryParts {
  rules: RuleCache
  storage: ObjectStorage
  /** Where files are led to instead of being sent. */
  bucket: SigningBucket | undefined
  captionTexts: CaptionTexts
  early: EarlyFiles
  tokenKeys: TokenKeys
  trustedProxies: AddressRules
}

/** Answers one request for a file. Cost on the way of a hot one: a cached rule, a cached verdict over the token, one open file. */
export function createRequestHandler(parts: DeliveryParts) {
  const verify = rememberVerdicts(parts.tokenKeys)
  return async (request: IncomingMessage, response: ServerResponse, signal: AbortSignal): Promise<void> => {
    // Players on other pages read playlists and segments by script.
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
      return refuse(response, 405, 'method_not_allowed', { Allow: 'GET, HEAD, OPTIONS' })

    const [path = '', query = ''] = (request.url ?? '').split('?', 2)
    const asked = parseDeliveryPath(path)
    if (!asked) return refuse(response, 404, 'not_found')
    const queried = new URLSearchParams(query).get('token')
    if (queried && asked.token === undefined) {
      if (!/^[A-Za-z0-9_.-]{1,1024}$/.test(queried)) return refuse(response, 403, 'token_refused')
      response.writeHead(302, { Location: withToken(asked, queried), 'Cache-Control': 'no-store' }).end()
      return
    }

    const serve = async (fresh: boolean) => {
      const rule = await parts.rules.get(asked, { fresh })
      if (!rule) return refuse(response, 404, 'not_found')
      const address = clientAddress(request, parts.trustedProxies)
      const token = asked.token === undefined ? undefined : await verify(asked.token, rule.videoId, address)
      const admission = admit(rule, { version: asked.version, token, address, now: new Date() })
      if (!admission.admitted) return refuse(response, admission.reason === 'not_found' ? 404 : 403, admission.reason)
      const file: ServedFile = { request, response, ...admission, file: asked.file, signal }
      try {
        return await serveFile(parts, file, rule)
      } catch (error) {
        const isMissing = isDomainError(error) && (error.kind === 'not_found' || error.reason === 'BAD_OBJECT_NAME')
        if (!isMissing) throw error
        // A set that was still being made may have been finished since the rule was asked for.
        if (earlyJob(admission.prefix) !== undefined && !fresh) return serve(true)
        refuse(response, 404, 'not_found')
      }
    }
    await serve(false)
  }
}

interface ServedFile {
  request: IncomingMessage
  response: ServerResponse
  prefix: string
  open: boolean
  file: string
  signal: AbortSignal
}

async function serveFile(parts: DeliveryParts, what: ServedFile, { captions, added }: DeliveryRule) {
  const { storage, bucket, captionTexts: texts, early } = parts
  const { request, response, open, signal } = what
  const { prefix, file } = placeOf(what.file, what.prefix, added)
  const jobId = earlyJob(prefix)
  const captionFile = captionFileOf(what.file, captions)
  if (captionFile) {
    const readMaster = () => wholeMaster(parts, what, { captions, added })
    return serveCaptions(request, response, { texts, readMaster }, { file: captionFile, rule: captions, open })
  }
  if (jobId !== undefined && file.endsWith('.m3u8')) {
    return sendText(request, response, Buffer.from(await early.playlist(jobId, file)), { type: PLAYLIST_TYPE, open })
  }
  const name = jobId === undefined ? `${prefix}/${file}` : await early.objectOf(jobId, file)
  if (bucket && isLedTo(name)) return leadToObject(request, response, bucket, name)
  return serveObject(request, response, { storage, name, open }, signal)
}

/** The master of the set as it is without captions, with whatever was added to it. Playlists of whole videos have a few kilobytes. */
async function wholeMaster(
  { storage, early }: DeliveryParts,
  { prefix, signal }: ServedFile,
  { captions, added }: Pick<DeliveryRule, 'captions' | 'added'>,
): Promise<string> {
  const jobId = earlyJob(prefix)
  const read = async (from: string) => text((await storage.open(`${from}/${captions.masterPath}`, { signal })).stream)
  const own = jobId === undefined ? await read(prefix) : await early.playlist(jobId, captions.masterPath)
  // What is gone is not listed: the set plays without it.
  const readAdded = (from: string) =>
    read(from).catch((error: unknown) => {
      if (isDomainError(error) && error.kind === 'not_found') return ''
      throw error
    })
  const others = await Promise.all(addedTo(prefix, added).map(async (one) => ({ jobId: one.jobId, text: await readAdded(one.prefix) })))
  return others.reduce(withVariants, own)
}

/** A player asks with the same token for every segment: a good one is verified once, and then only its end is looked at. */
function rememberVerdicts(keys: TokenKeys) {
  const good = new LRUCache<string, Date>({ max: 10_000, ttl: 60_000 })
  return async (token: string, videoId: string, address: string): Promise<TokenVerdict> => {
    const name = `${videoId} ${address} ${token}`
    const expires = good.get(name)
    const now = new Date()
    if (expires) return expires > now ? { allowed: true, expires } : { allowed: false, reason: 'expired' }
    const verdict = await verifyVideoToken(token, { videoId, address, now }, keys)
    if (verdict.allowed) good.set(name, verdict.expires)
    return verdict
  }
}
