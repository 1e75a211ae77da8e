import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressRules } from '@vitascope/access'
import { type TokenKeys, type TokenVerdict, verifyVideoToken } from '@vitascope/access'
import { isDomainError } from '@vitascope/errors'
import type { ObjectStorage } from '@vitascope/storage'
import { LRUCache } from 'lru-cache'
import { admit } from './admission.ts'
import type { CaptionTexts } from './captions/caption-texts.ts'
import { captionFileOf } from './captions/hls-captions.ts'
import { serveCaptions } from './captions/serve-captions.ts'
import { clientAddress } from './client-address.ts'
import { parseDeliveryPath, withToken } from './delivery-path.ts'
import { refuse } from './problem.ts'
import type { RuleCache } from './rule-cache.ts'
import { serveObject } from './serve-object.ts'

export interface DeliveryParts {
  rules: RuleCache
  storage: ObjectStorage
  captionTexts: CaptionTexts
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

    const rule = await parts.rules.get(asked)
    if (!rule) return refuse(response, 404, 'not_found')
    const address = clientAddress(request, parts.trustedProxies)
    const token = asked.token === undefined ? undefined : await verify(asked.token, rule.videoId, address)
    const admission = admit(rule, { version: asked.version, token, address, now: new Date() })
    if (!admission.admitted) return refuse(response, admission.reason === 'not_found' ? 404 : 403, admission.reason)
    const file = captionFileOf(asked.file, rule.captions)
    try {
      if (file) {
        const { prefix, open } = admission
        const { storage, captionTexts: texts } = parts
        return await serveCaptions(request, response, { storage, texts }, { file, rule: rule.captions, prefix, open }, signal)
      }
      await serveObject(
        request,
        response,
        { storage: parts.storage, name: `${admission.prefix}/${asked.file}`, open: admission.open },
        signal,
      )
    } catch (error) {
      if (isDomainError(error) && (error.kind === 'not_found' || error.reason === 'BAD_OBJECT_NAME'))
        return refuse(response, 404, 'not_found')
      throw error
    }
  }
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
