import { invalid, notFound, requireValid } from '@vitascope/errors'
import type { Handlers } from '@vitascope/grpc'
import type { Notifications } from '@vitascope/postgres'
import { getScope, getScopeOrAll, organisationFor, requireService, requireUser, type Scope } from '@vitascope/principal'
import { type ListVideosRequest, VideoOrder, type VideoServiceService } from '@vitascope/proto/catalogue/v1/video'
import { checkPage, checkText, isId, requireUnchanged } from '@vitascope/request'
import type { FolderStore } from '../folder/folder-store.ts'
import type { Organisations } from '../organisation-replica/organisation.ts'
import { fromStateMessage, toStatusMessage } from '../publishing/media/status-message.ts'
import { maxMessageSize } from '../rules/message-size.ts'
import { watchPublicChanges } from './public-changes.ts'
import { planUpload } from './upload.ts'
import type { UploadStore } from './upload-store.ts'
import type { Video } from './video.ts'
import { checkTag } from './video-checks.ts'
import { mergeFields } from './video-mask.ts'
import { encodeVideo, fromMessage, toMessage } from './video-message.ts'
import type { VideoPages } from './video-pages.ts'
import type { VideoQuery } from './video-query.ts'
import type { VideoStore } from './video-store.ts'
import type { VideoTokens } from './video-token.ts'
import { toGuestView } from './visible-video.ts'

export interface VideoParts {
  videos: VideoStore
  lists: VideoPages
  uploads: UploadStore
  tokens: VideoTokens
  organisations: Organisations
  folders: Pick<FolderStore, 'require'>
  publicChanges: Pick<Notifications, 'watch'>
}

const DEFAULT_PAGE_SIZE = 10
const MAX_PAGE_SIZE = 1_000
/** PostgreSQL reads all skipped rows. Callers avoid this with a page token. */
const MAX_SKIP = 10_000
const MAX_QUERY_LENGTH = 200

export function videoHandlers({
  videos,
  lists,
  uploads,
  tokens,
  organisations,
  folders,
  publicChanges,
}: VideoParts): Handlers<typeof VideoServiceService> {
  return {
    async uploadVideo(request, call) {
      const user = requireUser(call.principal)
      const organisationId = organisationFor(user, request.organisationId)
      if (organisationId === undefined) throw invalid([{ field: 'organisation_id', message: 'is required' }])
      const upload = planUpload(request, organisationId, user.userId)
      await organisations.requireActive(organisationId, call.signal)
      const accepted = await uploads.accept(upload, call)
      return { ...accepted, status: toStatusMessage(accepted.status) }
    },
    async getVideo({ videoId }, { principal, signal }) {
      const scope = getScope(principal)
      const video = isId(videoId) ? await videos.find(scope, videoId, signal) : undefined
      if (!video) throw notFound('video', videoId)
      return { video: toMessage(video) }
    },
    async findPublicVideo({ videoId, token }, { signal }) {
      const video = isId(videoId) ? await videos.find(null, videoId, signal) : undefined
      if (!video) throw notFound('video', videoId)
      return { video: toMessage(await toGuestView(video, token, tokens)) }
    },
    async *watchPublicChanges(_request, { principal, signal }) {
      requireService(principal)
      yield* watchPublicChanges(publicChanges, signal)
    },
    async listVideos(request, { principal, signal }) {
      const organisationId = organisationFor(principal, request.organisationId)
      if (getScope(principal) === null && organisationId !== undefined) await organisations.require(organisationId, signal)
      const videoQuery = toVideoQuery(request, organisationId ?? null)
      if (videoQuery.folderId !== undefined) await folders.require({ scope: videoQuery.scope, folderId: videoQuery.folderId }, signal)
      const size = request.pageSize === 0 ? DEFAULT_PAGE_SIZE : Math.min(request.pageSize, MAX_PAGE_SIZE)
      const { pageToken: token, skip } = request
      const messageSize = request.encoded ? (video: Video) => encodeVideo(video).byteLength : maxMessageSize
      const [{ videos: page, nextPageToken }, totalSize] = await Promise.all([
        lists.page(videoQuery, { size, token, skip }, messageSize, signal),
        request.count ? lists.count(videoQuery, signal) : 0,
      ])
      const rows = request.encoded
        ? { videos: [], encodedVideos: page.map(encodeVideo) }
        : { videos: page.map(toMessage), encodedVideos: [] }
      return { ...rows, nextPageToken, totalSize }
    },
    async updateVideo({ video: input, updateMask = [] }, call) {
      const { principal, signal } = call
      const { userId } = requireUser(principal)
      const key = { scope: getScope(principal), videoId: input?.videoId ?? '' }
      if (!input || !isId(key.videoId)) throw notFound('video', key.videoId)
      const change = (current: Video) => {
        requireUnchanged(call, current.updateTime)
        return mergeFields(current, fromMessage(input), updateMask)
      }
      const video =
        updateMask.length === 0 ? await videos.find(key.scope, key.videoId, signal) : await videos.update(key, userId, change, signal)
      if (!video) throw notFound('video', key.videoId)
      return { video: toMessage(video) }
    },
    async deleteVideo({ videoId }, { principal, signal }) {
      const scope = getScope(principal)
      if (!isId(videoId)) throw notFound('video', videoId)
      return { deleteTime: await videos.remove({ scope, videoId }, signal) }
    },
    async createVideoToken(request, call) {
      const scope = getScopeOrAll(call.principal)
      if (!isId(request.videoId)) throw notFound('video', request.videoId)
      const { token, expires } = await tokens.create(scope, request, call)
      return { token, expireTime: new Date(expires * 1000) }
    },
  }
}

function toVideoQuery({ order, descending, state, tag, query, folderId, skip, pageSize }: ListVideosRequest, scope: Scope): VideoQuery {
  const problems = [
    ...checkPage({ pageSize, skip }),
    ...(skip >= MAX_SKIP ? [{ field: 'skip', message: `must be less than ${MAX_SKIP}; continue with next_page_token` }] : []),
    ...(tag === '' ? [] : checkTag(tag, 'tag')),
    ...checkText('query', query, { max: MAX_QUERY_LENGTH }),
    ...(folderId === '' || isId(folderId) ? [] : [{ field: 'folder_id', message: 'must be an id: digits that do not begin with 0' }]),
  ]
  requireValid(problems)
  return {
    scope,
    order: toOrder(order, query),
    descending,
    state: fromStateMessage(state),
    tag: tag === '' ? undefined : tag,
    query: query === '' ? undefined : query,
    folderId: folderId === '' ? undefined : folderId,
  }
}

function toOrder(order: VideoOrder, query: string): VideoQuery['order'] {
  if (order === VideoOrder.VIDEO_ORDER_TITLE) return 'title'
  return order === VideoOrder.VIDEO_ORDER_RELEVANCE && query !== '' ? 'relevance' : 'create_time'
}
