import type { Request, RequestHandler, Response } from 'express'
import { page } from '../../server/http/page.ts'
import { domainError } from '../../server/http/problem.ts'
import { requestContext } from '../../server/http/request-context.ts'
import { type Pair, parseUrlencoded } from '../../server/payload/urlencoded.ts'
import { formatOembed, oembedDocument } from './oembed-document.ts'
import { readOembedRequest } from './oembed-request.ts'
import { createPageDecider } from './page-decision.ts'
import type { FactsDependencies, FactsFinder } from './page-facts.ts'
import type { ShareData } from './share-data.ts'

interface Parts extends FactsDependencies {
  findFacts: FactsFinder
}

/**
 * Serves `/oembed` (oEmbed 1.0): the embed code and the public data of a player page, as JSON or XML.
 * Playback rules can make the response depend on the client, so only the cache of the client may
 * store it.
 */
export function oembedPage(dependencies: Parts): RequestHandler {
  const findShareData = createShareDataFinder(dependencies)
  return page('/oembed', async (request, response) => {
    const publicUrl = dependencies.publicUrl()
    const { id, format, max } = readOembedRequest(readQuery(request), publicUrl, request.headers.host)
    if (id === undefined) throw domainError('not_found', 'NOT_FOUND', 'url is not the URL of a player page of this platform')
    const shared = await findShareData(id, request, response)
    const { text, contentType } = formatOembed(oembedDocument(shared, max, publicUrl), format)
    response.setHeader('Cache-Control', 'private, max-age=60')
    response.setHeader('Content-Type', contentType)
    response.setHeader('Content-Length', Buffer.byteLength(text))
    response.end(request.method === 'HEAD' ? undefined : text)
  })
}

/** Returns a function that finds the data of a page that everyone may play. It throws for all others. */
function createShareDataFinder(dependencies: Parts): (id: string, request: Request, response: Response) => Promise<ShareData> {
  const decidePage = createPageDecider(dependencies)
  return async (id, request, response) => {
    const facts = await dependencies.findFacts(id, response)
    if (facts === undefined) throw await findUnavailability(dependencies, response)
    if (facts.shows === 'none') {
      if (facts.expired !== undefined) throw domainError('not_found', 'VIDEO_EXPIRED', facts.expired)
      throw domainError('not_found', 'VIDEO_NOT_FOUND', `no video or playlist ${id} that guests may see`)
    }
    const { allowed } = await decidePage({ kind: facts.shows, id }, request, response)
    if (facts.shared.requiresCredential || !allowed) {
      throw domainError('unauthenticated', 'VIDEO_PROTECTED', 'this video is protected; link to its page instead of embedding it')
    }
    return facts.shared
  }
}

/** Returns the error for facts that were not looked up. */
async function findUnavailability({ unknownIds }: Parts, response: Response): Promise<Error> {
  const rejection = await unknownIds.rejection(requestContext(response).address)
  return rejection ?? domainError('unavailable', 'SERVICE_UNAVAILABLE', 'the video cannot be looked up now; try again', 1)
}

function readQuery({ originalUrl }: Request): Pair[] {
  const at = originalUrl.indexOf('?')
  return at === -1 ? [] : parseUrlencoded(originalUrl.slice(at + 1))
}
