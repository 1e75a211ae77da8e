import { invalid, notFound } from '@vitascope/errors'
import type { Handlers } from '@vitascope/grpc'
import { type ListVideosRequest, Video as VideoMessage, VideoOrder, type VideoServiceService } from '@vitascope/proto/catalogue/v1/video'
import type { FolderStore } from '../folder/folder-store.ts'
import { parseId } from '../id/id.ts'
import { type Organisations, requireActive } from '../organisation-mirror/organisation.ts'
import { checkText } from '../text.ts'
import { organisationFor, requireUser, type Scope, scopeOf } from '../visibility.ts'
import { planUpload } from './upload.ts'
import type { UploadStore } from './upload-store.ts'
import { asPublic } from './video.ts'
import { checkTag } from './video-checks.ts'
import type { VideoLists } from './video-list.ts'
import type { VideoListing } from './video-listing.ts'
import { mergeFields } from './video-mask.ts'
import { fromMessage, fromState, toMessage, toStatusMessage } from './video-message.ts'
import type { VideoStore } from './video-store.ts'
import type { VideoTokens } from './video-token.ts'

export interface VideoRoom {
  videos: VideoStore
  lists: VideoLists
  uploads: UploadStore
  tokens: VideoTokens
  organisations: Organisations
  folders: Pick<FolderStore, 'need'>
}

const PAGE_DEFAULT = 10
const PAGE_MOST = 1_000
/** Rows are counted over until the first one; a token finds its place at once. */
const START_MOST = 10_000
const QUERY_MOST = 200

export function videoHandlers({ videos, lists, uploads, tokens, organisations, folders }: VideoRoom): Handlers<typeof VideoServiceService> {
  return {
    async uploadVideo(request, call) {
      const user = requireUser(call.principal)
      const named = organisationFor(user, request.organisationId)
      if (named === undefined) throw invalid([{ field: 'organisation_id', message: 'is required' }])
      const upload = planUpload(request, named, user.userId)
      if (!parseId(named)) throw notFound('organisation', named)
      requireActive(await organisations.need(named, call.signal))
      const accepted = await uploads.accept(upload, call)
      return { ...accepted, status: toStatusMessage(accepted.status) }
    },
    async getVideo({ videoId }, { principal, signal }) {
      const scope = scopeOf(principal)
      const video = parseId(videoId) ? await videos.find(scope, videoId, signal) : undefined
      if (!video) throw notFound('video', videoId)
      return { video: toMessage(video) }
    },
    async findPublicVideo({ videoId }, { signal }) {
      const video = parseId(videoId) ? await videos.find(null, videoId, signal) : undefined
      if (!video) throw notFound('video', videoId)
      return { video: toMessage(asPublic(video, new Date())) }
    },
    async listVideos(request, { principal, signal }) {
      const named = organisationFor(principal, request.organisationId)
      if (scopeOf(principal) === null && named !== undefined) await needOrganisation(organisations, named, signal)
      const listing = toListing(request, named ?? null)
      if (listing.folderId !== undefined) await folders.need({ scope: listing.scope, folderId: listing.folderId }, signal)
      const size = request.pageSize === 0 ? PAGE_DEFAULT : Math.min(request.pageSize, PAGE_MOST)
      const { pageToken: token, skip } = request
      const weigh = (video: Parameters<typeof toMessage>[0]) => VideoMessage.encode(toMessage(video)).finish().length
      const { videos: page, nextPageToken } = await lists.page(listing, { size, token, skip }, weigh, signal)
      return { videos: page.map(toMessage), nextPageToken, totalSize: request.count ? await lists.count(listing, signal) : 0 }
    },
    async updateVideo({ video: given, updateMask = [] }, { principal, signal }) {
      const { userId } = requireUser(principal)
      const key = { scope: scopeOf(principal), videoId: given?.videoId ?? '' }
      if (!given || !parseId(key.videoId)) throw notFound('video', key.videoId)
      const video =
        updateMask.length === 0
          ? await videos.find(key.scope, key.videoId, signal)
          : await videos.update(key, userId, (now) => mergeFields(now, fromMessage(given), updateMask), signal)
      if (!video) throw notFound('video', key.videoId)
      return { video: toMessage(video) }
    },
    async deleteVideo({ videoId }, { principal, signal }) {
      const scope = scopeOf(principal)
      if (!parseId(videoId)) throw notFound('video', videoId)
      return { deleteTime: await videos.remove({ scope, videoId }, signal) }
    },
    async createVideoToken(request, call) {
      const scope = scopeOf(call.principal)
      if (!parseId(request.videoId)) throw notFound('video', request.videoId)
      const { token, expires } = await tokens.create(scope, request, call)
      return { token, expireTime: new Date(expires * 1000) }
    },
  }
}

async function needOrganisation(organisations: Organisations, organisationId: string, signal: AbortSignal): Promise<void> {
  if (!parseId(organisationId)) throw notFound('organisation', organisationId)
  await organisations.need(organisationId, signal)
}

function toListing({ order, descending, state, tag, query, folderId, skip, pageSize }: ListVideosRequest, scope: Scope): VideoListing {
  const problems = [
    ...(skip < 0 ? [{ field: 'start', message: 'must not be negative' }] : []),
    ...(skip >= START_MOST ? [{ field: 'start', message: `must be at most ${START_MOST}: the Link header leads further` }] : []),
    ...(pageSize < 0 ? [{ field: 'limit', message: 'must not be negative' }] : []),
    ...(tag === '' ? [] : checkTag(tag, 'tag')),
    ...checkText('q', query, { max: QUERY_MOST }),
    ...(folderId === '' || parseId(folderId) ? [] : [{ field: 'folder_id', message: 'must be an id: digits that do not begin with 0' }]),
  ]
  if (problems.length > 0) throw invalid(problems)
  return {
    scope,
    order: orderOf(order, query),
    descending,
    state: fromState(state),
    tag: tag === '' ? undefined : tag,
    query: query === '' ? undefined : query,
    folderId: folderId === '' ? undefined : folderId,
  }
}

function orderOf(order: VideoOrder, query: string): VideoListing['order'] {
  if (order === VideoOrder.VIDEO_ORDER_TITLE) return 'title'
  return order === VideoOrder.VIDEO_ORDER_RELEVANCE && query !== '' ? 'relevance' : 'create_time'
}
