import { isDomainError, notFound } from '@vitascope/errors'
import { type Call, serviceCall } from '@vitascope/grpc'
import { type Organisation, OrganisationStatus } from '@vitascope/proto/auth/v1/organisation'
import type { ListPublicVideosResponse } from '@vitascope/proto/catalogue/v1/public_video'
import { toWidestNetwork } from '@vitascope/security'
import type { Request, RequestHandler, Response } from 'express'
import { page } from '../../server/http/page.ts'
import { readLanguage, sendPlainPage } from '../../server/http/plain-page.ts'
import { domainError } from '../../server/http/problem.ts'
import { requestContext } from '../../server/http/request-context.ts'
import { parseUrlencoded } from '../../server/payload/urlencoded.ts'
import { mediaSources } from './built-page.ts'
import { ORGANISATION_STYLE, organisationMarkup } from './organisation-markup.ts'
import type { FactsDependencies } from './page-facts.ts'

interface Parts extends FactsDependencies {
  /** Origin that delivery redirects to. */
  redirectOrigin?: string | undefined
}

const TIMEOUT_MS = 5_000
const PAGE_SIZE = 24

/**
 * Serves `/o/{id}`: the public videos of an organisation that has switched this page on, with a search. Playback rules
 * can make the list depend on the viewer, so only the browser of the viewer may store it.
 */
export function organisationPage(dependencies: Parts): RequestHandler {
  const readPage = createPageReader(dependencies)
  return page('/o/:id', async (request, response) => {
    const id = String(request.params['id'])
    const { query, cursor } = readQuery(request)
    const { organisation, videos } = await readPage(id, { query, cursor }, response)
    const language = readLanguage(request)
    const title = [...(query === '' ? [] : [`“${query}”`]), organisation.name, 'Vitascope'].join(' · ')
    response.setHeader('Cache-Control', 'private, no-cache')
    sendPlainPage(response, {
      language,
      title,
      frameAncestors: `'none'`,
      body: organisationMarkup({
        ...videos,
        id,
        name: organisation.name,
        query,
        isFirst: cursor === '',
        language,
        mediaUrl: dependencies.mediaUrl(),
      }),
      more: { style: ORGANISATION_STYLE, imageSources: mediaSources(dependencies) },
    })
  })
}

interface FoundPage {
  organisation: Organisation
  videos: ListPublicVideosResponse
}

/** Returns a function that reads an organisation and a page of its videos. It throws `not_found` if the organisation has no public page. */
function createPageReader({ services, concurrencyLimit, unknownIds }: Parts) {
  const read = async (id: string, position: { query: string; cursor: string }, address: string, call: Call): Promise<FoundPage> => {
    const { organisation } = await services.organisations.getOrganisation({ organisationId: id }, call)
    const isShown = organisation?.publicPage && organisation.status === OrganisationStatus.ORGANISATION_STATUS_ACTIVE
    if (!organisation || !isShown) throw notFound('organisation', id)
    const request = { organisationId: id, pageSize: PAGE_SIZE, pageToken: position.cursor, query: position.query, address }
    return { organisation, videos: await services.publicVideos.listPublicVideos(request, call) }
  }
  return async (id: string, position: { query: string; cursor: string }, response: Response): Promise<FoundPage> => {
    const { address, requestId } = requestContext(response)
    const rejection = await unknownIds.rejection(address)
    if (rejection) throw rejection
    const slot = concurrencyLimit.begin('read', toWidestNetwork(address))
    try {
      const call = { ...serviceCall('gateway', requestId, AbortSignal.timeout(TIMEOUT_MS)), deadline: new Date(Date.now() + TIMEOUT_MS) }
      return await read(id, position, address, call)
    } catch (error) {
      if (!isDomainError(error) || error.kind !== 'not_found') throw error
      await unknownIds.count(address)
      // The same error for an unknown organisation and for one without the page.
      throw domainError('not_found', 'NOT_FOUND', 'no organisation with a public page has this id')
    } finally {
      // The concurrency limit adapts to the duration of single reads. This page makes several, so its duration is excluded.
      slot.end(false)
    }
  }
}

/** Returns the first `q` and `cursor` of the query string. They are empty if they are missing. */
function readQuery({ originalUrl }: Request): { query: string; cursor: string } {
  const at = originalUrl.indexOf('?')
  const pairs = at === -1 ? [] : parseUrlencoded(originalUrl.slice(at + 1))
  const read = (name: string) => pairs.find(([field]) => field === name)?.[1].trim() ?? ''
  return { query: read('q'), cursor: read('cursor') }
}
