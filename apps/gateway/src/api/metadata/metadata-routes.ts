import { isStorable } from '@vitascope/request'
import { z } from 'zod'
import { route } from '../../server/route/route.ts'
import { checked, field, reject } from '../../server/schema/field.ts'
import { flag, id, text } from '../../server/schema/fields.ts'
import { formatOptionalTimestamp, required, schema } from '../../server/schema/response-format.ts'
import { VideoResponse } from '../video/video-response.ts'
import { findVideo } from '../video/video-routes.ts'

/** Entries per video, and so per call. */
const MAX_ITEMS = 100

export const getMetadata = route({
  get: ['/metadata/:videoId'],
  operationId: 'getVideoMetadata',
  section: 'Metadata',
  access: 'public',
  summary: 'Read a video with its metadata',
  description:
    'Returns the video record with its metadata. For guests and keys of other organisations, `metadata` is a map of the public ' +
    'values by name. For keys of its organisation and system keys, it is `{public, private}`, each an array of entries.',
  params: z.object({ videoId: id('video') }),
  response: VideoResponse,
  errorCodes: { video_expired: 'The video has expired. `detail` is the message for viewers.' },
  async handle({ params }, context) {
    const { video, toResponse } = await findVideo(params.videoId, context)
    return toResponse(video, context)
  },
})

const name = text(
  100,
  { min: 1, pattern: /^[a-z_]+$/, message: 'must have lower-case letters a to z and underscores only' },
  { description: 'Name of the entry, of the letters a to z and underscores. It is unique for the video.', example: 'genre' },
)
const value = text(1_000, {}, { description: 'Value of the entry.', example: 'documentary' })
const isPrivate = flag({ description: '`true` hides the entry from guests.', example: false })
const readOnly = flag({ description: '`true` allows only system keys to change the entry. Only system keys may set it.', example: false })

/** Requires unique names. */
function entries<Entry extends z.ZodObject<{ name: typeof name }>>(entry: Entry) {
  const itemCountMessage = `must have 1 to ${MAX_ITEMS} items`
  return checked(
    z.array(entry).min(1, itemCountMessage).max(MAX_ITEMS, itemCountMessage),
    (items: readonly ({ name?: string } | undefined)[]) => {
      const names = items.map((item) => item?.name)
      return names.flatMap((name, index) =>
        name !== undefined && names.indexOf(name) < index ? [{ path: [index, 'name'], message: 'must not be repeated' }] : [],
      )
    },
  )
}

const videoResponse = { id: schema.id('video'), status: z.literal(1) }

const systemOnly = 'Only system keys may make entries read-only.'
const READ_ONLY_MESSAGE = 'Only system keys may change or delete read-only entries.'

export const createMetadata = route({
  post: ['/metadata/:videoId'],
  operationId: 'addVideoMetadata',
  section: 'Metadata',
  access: 'user',
  summary: 'Add metadata to a video',
  description:
    'Adds all entries, or none if one of them is rejected. The flat fields of a form are one entry. A video has at most 100 entries.',
  params: z.object({ videoId: id('video') }),
  payload: entries(z.strictObject({ name, value, private: isPrivate.default(false), read_only: readOnly.default(false) })),
  publicNames: { entries: '' },
  status: 201,
  docs: { example: [{ name: 'genre', value: 'documentary' }] },
  response: z.object({
    status: z.literal('Created'),
    message: z.object({ ...videoResponse, created: schema.timestamp('Time of creation.') }),
  }),
  errorCodes: {
    metadata_exists: 'The video already has an entry with one of the names.',
    metadata_full: 'The video would have more than 100 entries.',
    system_only: systemOnly,
  },
  async handle({ params, payload }, { services, call }) {
    const entries = payload.map((entry) => ({ name: entry.name, value: entry.value, private: entry.private, readOnly: entry.read_only }))
    const request = { videoId: params.videoId, entries }
    const { createTime } = await services.metadata.createMetadata(request, call)
    return {
      status: 'Created' as const,
      message: { id: params.videoId, status: 1 as const, created: formatOptionalTimestamp(required(createTime, 'time')) },
    }
  },
})

export const updateMetadata = route({
  put: ['/metadata/:videoId'],
  operationId: 'updateVideoMetadata',
  section: 'Metadata',
  access: 'user',
  summary: 'Change metadata of a video',
  description:
    'Changes all entries, or none if one of them is rejected. `name` identifies an entry. Omitted `private` and `read_only` keep ' +
    'their values.',
  params: z.object({ videoId: id('video') }),
  payload: entries(z.strictObject({ name, value, private: isPrivate.optional(), read_only: readOnly.optional() })),
  publicNames: { changes: '' },
  docs: { example: [{ name: 'genre', value: 'documentary' }] },
  response: z.object({
    status: z.literal('Updated'),
    message: z.object({ ...videoResponse, created: schema.timestamp('Time of the change.') }),
  }),
  errorCodes: {
    metadata_not_found: 'The video has no entry with one of the names.',
    metadata_read_only: READ_ONLY_MESSAGE,
    system_only: systemOnly,
  },
  async handle({ params, payload }, { services, call }) {
    const changes = payload.map((entry) => ({ name: entry.name, value: entry.value, private: entry.private, readOnly: entry.read_only }))
    const request = { videoId: params.videoId, changes }
    const { updateTime } = await services.metadata.updateMetadata(request, call)
    return {
      status: 'Updated' as const,
      message: { id: params.videoId, status: 1 as const, created: formatOptionalTimestamp(required(updateTime, 'time')) },
    }
  },
})

/** A name that no entry can have matches nothing, and the service returns 404. */
const keyNames = field(
  (text) => {
    if (typeof text !== 'string' || !isStorable(text)) return reject('must be well-formed Unicode without NUL')
    const names = [...new Set(text.split(',', MAX_ITEMS * 2))]
    return names.length > MAX_ITEMS ? reject(`must have at most ${MAX_ITEMS} names`) : names
  },
  z.array(z.string()).meta({ type: 'string', description: 'Names of entries, separated by commas.', example: 'genre,mood' }),
)

export const deleteMetadata = route({
  delete: ['/metadata/:videoId/keys/:keyNames'],
  operationId: 'deleteVideoMetadata',
  section: 'Metadata',
  access: 'user',
  summary: 'Delete metadata of a video',
  description: 'Deletes all named entries, or none if one of them is rejected.',
  params: z.object({ videoId: id('video'), keyNames }),
  publicNames: { changes: '' },
  response: z.object({
    status: z.literal('Updated'),
    message: z.object({ ...videoResponse, deleted: schema.timestamp('Time of deletion.') }),
  }),
  errorCodes: { metadata_not_found: 'The video has no entry with one of the names.', metadata_read_only: READ_ONLY_MESSAGE },
  async handle({ params }, { services, call }) {
    const { deleteTime } = await services.metadata.deleteMetadata({ videoId: params.videoId, names: params.keyNames }, call)
    return {
      status: 'Updated' as const,
      message: { id: params.videoId, status: 1 as const, deleted: formatOptionalTimestamp(required(deleteTime, 'time')) },
    }
  },
})

export const metadataRoutes = [getMetadata, createMetadata, updateMetadata, deleteMetadata]
