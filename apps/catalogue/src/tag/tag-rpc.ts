import { notFound } from '@vitascope/errors'
import type { Handlers, Principal } from '@vitascope/grpc'
import { getScope, requireUser } from '@vitascope/principal'
import type { TagServiceService } from '@vitascope/proto/catalogue/v1/tag'
import { isId, toTokenPage } from '@vitascope/request'
import type { Organisations } from '../organisation-replica/organisation.ts'
import { requireOrganisation } from '../organisation-replica/requested-organisation.ts'
import { addTags, checkSearchTags, checkTags, removeTags } from './tag.ts'
import type { TagStore } from './tag-store.ts'

const DEFAULT_PAGE_SIZE = 100
const MAX_PAGE_SIZE = 1_000

export function tagHandlers(tags: TagStore, organisations: Organisations): Handlers<typeof TagServiceService> {
  return {
    async listTags(request, { principal, signal }) {
      const page = toTokenPage(request, MAX_PAGE_SIZE, DEFAULT_PAGE_SIZE)
      return tags.list(await requireOrganisation(organisations, principal, request.organisationId, signal), page, signal)
    },
    async listTaggedVideos(request, { principal, signal }) {
      const page = toTokenPage(request, MAX_PAGE_SIZE, DEFAULT_PAGE_SIZE)
      const requestedTags = checkSearchTags(request.tags)
      const organisationId = await requireOrganisation(organisations, principal, request.organisationId, signal)
      return tags.videos({ organisationId, tags: requestedTags, any: request.any }, page, signal)
    },
    async addTags({ videoId, tags: input }, call) {
      const { key, userId } = readCaller(call.principal, videoId)
      const newTags = checkTags(input)
      return { added: await tags.change(key, userId, (current) => addTags(current, newTags), call) }
    },
    async deleteTags({ videoId, tags: input }, { principal, signal }) {
      const { key, userId } = readCaller(principal, videoId)
      const deletedTags = checkTags(input)
      return { deleted: await tags.change(key, userId, (current) => removeTags(current, deletedTags), { signal }) }
    },
  }
}

function readCaller(principal: Principal, videoId: string) {
  const { userId } = requireUser(principal)
  if (!isId(videoId)) throw notFound('video', videoId)
  return { key: { scope: getScope(principal), videoId }, userId }
}
