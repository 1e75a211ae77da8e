import { z } from 'zod'
import { checked, field, refuse } from '../field.ts'
import { flag, id, text } from '../fields.ts'
import { given, shown, timestampText } from '../public-form.ts'
import { withPublicNames } from '../public-names.ts'
import { route } from '../route.ts'
import { isStorable } from '../text.ts'
import { VideoRecord } from '../video/video-record.ts'
import { findVideo } from '../video/video-routes.ts'

/** Of a video, and so of a call. */
const MOST = 100

export const getMetadata = route({
  get: ['/metadata/:videoId'],
  section: 'Metadata',
  access: 'public',
  summary: 'Read a video with its metadata',
  description:
    'The video record. For guests, and keys of other organisations, `metadata` is a map of the public values by name; for keys of its organisation and system keys it is `{public, private}`, each an array of entries.',
  params: z.object({ videoId: id('video') }),
  answer: VideoRecord,
  refusals: { video_expired: 'it is past its expiry; `detail` is the message for viewers' },
  async handle({ params }, context) {
    const { video, view } = await findVideo(params.videoId, context)
    return view(video, context.publicUrl)
  },
})

const name = text(
  100,
  { min: 1, pattern: /^[a-z_]+$/, message: 'must have lower-case letters a to z and underscores only' },
  { description: 'a to z and underscores; unique in its video.', example: 'genre' },
)
const value = text(1_000, {}, { description: 'Its text.', example: 'documentary' })
const isPrivate = flag({ description: 'true hides it from guests.', example: false })
const readOnly = flag({ description: 'true for system keys only: the entry is then changed with system keys only.', example: false })

/** Each name once. */
function entries<Entry extends z.ZodObject<{ name: typeof name }>>(entry: Entry) {
  const many = `must have 1 to ${MOST} items`
  return checked(z.array(entry).min(1, many).max(MOST, many), (items: readonly ({ name?: string } | undefined)[]) => {
    const names = items.map((item) => item?.name)
    return names.flatMap((one, index) =>
      one !== undefined && names.indexOf(one) < index ? [{ path: [index, 'name'], message: 'must be there once' }] : [],
    )
  })
}

const of = { id: shown.id('video'), status: z.literal(1) }

const systemOnly = 'only system keys make entries read-only'
const bound = 'only system keys change or delete read-only entries'

export const createMetadata = route({
  post: ['/metadata/:videoId'],
  section: 'Metadata',
  access: 'user',
  summary: 'Add metadata to a video',
  description: 'Several entries at once: all of them, or none. Flat fields of a form are one entry. A video has at most 100.',
  params: z.object({ videoId: id('video') }),
  payload: entries(z.strictObject({ name, value, private: isPrivate.default(false), read_only: readOnly.default(false) })),
  status: 201,
  answer: z.object({ status: z.literal('Created'), message: z.object({ ...of, created: shown.timestamp('When they were made.') }) }),
  refusals: {
    metadata_exists: 'the video has an entry of one of the names',
    metadata_full: 'it would have more than 100 entries',
    system_only: systemOnly,
  },
  async handle({ params, payload }, { services, call }) {
    const entries = payload.map((one) => ({ name: one.name, value: one.value, private: one.private, readOnly: one.read_only }))
    const request = { videoId: params.videoId, entries }
    const { createTime } = await withPublicNames({ entries: '' }, services.metadata.createMetadata(request, call))
    return {
      status: 'Created' as const,
      message: { id: params.videoId, status: 1 as const, created: timestampText(given(createTime, 'a time')) },
    }
  },
})

export const updateMetadata = route({
  put: ['/metadata/:videoId'],
  section: 'Metadata',
  access: 'user',
  summary: 'Change metadata of a video',
  description:
    '`name` says which entry; several at once: all of them, or none. `private` and `read_only` stay as they are where they are left out.',
  params: z.object({ videoId: id('video') }),
  payload: entries(z.strictObject({ name, value, private: isPrivate.optional(), read_only: readOnly.optional() })),
  answer: z.object({ status: z.literal('Updated'), message: z.object({ ...of, created: shown.timestamp('When they were changed.') }) }),
  refusals: { metadata_not_found: 'the video has no entry of one of the names', metadata_read_only: bound, system_only: systemOnly },
  async handle({ params, payload }, { services, call }) {
    const changes = payload.map((one) => ({ name: one.name, value: one.value, private: one.private, readOnly: one.read_only }))
    const request = { videoId: params.videoId, changes }
    const { updateTime } = await withPublicNames({ entries: '' }, services.metadata.updateMetadata(request, call))
    return {
      status: 'Updated' as const,
      message: { id: params.videoId, status: 1 as const, created: timestampText(given(updateTime, 'a time')) },
    }
  },
})

/** A name that no entry can have is the name of nothing: the service answers 404. */
const keyNames = field(
  (written) => {
    if (typeof written !== 'string' || !isStorable(written)) return refuse('must be well-formed Unicode without NUL')
    const names = [...new Set(written.split(',', MOST * 2))]
    return names.length > MOST ? refuse(`must have at most ${MOST} names`) : names
  },
  z.array(z.string()).meta({ type: 'string', description: 'Names of entries, separated by commas.', example: 'genre,mood' }),
)

export const deleteMetadata = route({
  delete: ['/metadata/:videoId/keys/:keyNames'],
  section: 'Metadata',
  access: 'user',
  summary: 'Delete metadata of a video',
  description: 'Several entries at once: all of them, or none.',
  params: z.object({ videoId: id('video'), keyNames }),
  answer: z.object({ status: z.literal('Updated'), message: z.object({ ...of, deleted: shown.timestamp('When they were deleted.') }) }),
  refusals: { metadata_not_found: 'the video has no entry of one of the names', metadata_read_only: bound },
  async handle({ params }, { services, call }) {
    const { deleteTime } = await services.metadata.deleteMetadata({ videoId: params.videoId, names: params.keyNames }, call)
    return {
      status: 'Updated' as const,
      message: { id: params.videoId, status: 1 as const, deleted: timestampText(given(deleteTime, 'a time')) },
    }
  },
})

export const metadataRoutes = [getMetadata, createMetadata, updateMetadata, deleteMetadata]
