import { invalid } from '@vitascope/errors'
import { Clip } from '@vitascope/proto/collaboration/v1/clip'
import { z } from 'zod'
import { route } from '../../server/route/route.ts'
import { problem } from '../../server/schema/field.ts'
import { flag, id, idField, int, text } from '../../server/schema/fields.ts'
import { required, schema } from '../../server/schema/response-format.ts'
import { ClipOfEntryResponse, ClipResponse, clipResponse } from './collaborate-response.ts'

const section = 'Collaboration'
const access = 'user'
const INT32_MAX = 2_147_483_647
const MAX_CLIPS = 200
const entryParams = z.object({ collaborateId: id('collaboration entry') })
const clipParams = z.object({ clipId: id('clip') })
const seconds = (description: string, example: number) => int({ min: 0, max: INT32_MAX }, { description, example })
const title = text(255, {}, { description: 'Title of the clip. Free text.', example: 'Too loud' })
const comments = text(2_000, {}, { description: 'Comments on the clip. Free text.', example: 'The music covers the voice.' })
const time_start = seconds('Start in seconds from the beginning of the video.', 3)
const time_finish = seconds(
  'End in seconds from the beginning of the video. It must not be before `time_start` or after the end of the video.',
  7,
)
const millis = (field: string) =>
  int(
    { min: 0, max: 999 },
    { description: `Milliseconds after \`${field}\`. If \`${field}\` is sent without it, it becomes 0.`, example: 480 },
  )
const [time_start_millis, time_finish_millis] = [millis('time_start'), millis('time_finish')]
const type = text(50, { min: 1 }, { description: 'Type of the clip.', example: 'video' })
const preview = flag({ description: 'Marks the clip as a preview.' })
const resolved = flag({ description: 'Marks the comment as one that needs no more work.' })

export const createClip = route({
  post: ['/collaborate/clip/:collaborateId/post'],
  operationId: 'createClip',
  section,
  access,
  summary: 'Add a clip to a collaboration entry',
  description: 'Adds a clip at the end of the entry. An entry has at most 200 clips.',
  params: entryParams,
  payload: z.strictObject({
    comments: comments.default(''),
    time_start,
    time_finish,
    time_start_millis: time_start_millis.default(0),
    time_finish_millis: time_finish_millis.default(0),
    type: type.default('video'),
    preview: preview.default(false),
    resolved: resolved.default(false),
  }),
  response: z.object({ collaborate_id: schema.id('collaboration entry'), data: ClipResponse, id: schema.id('clip') }),
  errorCodes: { clips_full: 'The entry already has 200 clips.' },
  async handle({ params, payload }, { services, call }) {
    const { comments, type, preview, resolved } = payload
    const clip = Clip.fromPartial({ comments, type, preview, resolved, ...toTimes(payload), collaborationId: params.collaborateId })
    const created = required((await services.clips.createClip({ clip }, call)).clip, 'clip')
    return { collaborate_id: created.collaborationId, data: clipResponse(created), id: created.clipId }
  },
})

export const getClip = route({
  get: ['/collaborate/clip/:clipId'],
  operationId: 'getClip',
  section,
  access,
  summary: 'Read a clip',
  description: 'Returns a clip with the user of its entry.',
  params: clipParams,
  response: ClipOfEntryResponse,
  async handle({ params }, { services, call }) {
    const { clip, userId, videoId } = await services.clips.getClip(params, call)
    return { ...clipResponse(required(clip, 'clip')), user_id: userId, video_id: videoId }
  },
})

export const updateClip = route({
  put: ['/collaborate/clip/:clipId/put'],
  operationId: 'updateClip',
  section,
  access,
  summary: 'Change a clip',
  description: 'Changes only the fields that are sent.',
  params: clipParams,
  payload: z.strictObject({
    title: title.optional(),
    comments: comments.optional(),
    time_start: time_start.optional(),
    time_finish: time_finish.optional(),
    time_start_millis: time_start_millis.optional(),
    time_finish_millis: time_finish_millis.optional(),
    type: type.optional(),
    preview: preview.optional(),
    resolved: resolved.optional(),
  }),
  record: ClipOfEntryResponse,
  docs: { example: { title: 'Too loud' } },
  response: z.object({
    new_data: ClipResponse.meta({ description: 'The clip after the change.' }),
    original_data: ClipResponse.meta({ description: 'The clip before the change.' }),
    updated: schema.id('clip'),
  }),
  async handle({ params, payload }, { services, call }) {
    const updateMask = Object.keys(payload)
    if (updateMask.length === 0) throw invalid([{ field: 'payload', message: 'must have at least one field' }])
    const fields = {
      title: payload.title ?? '',
      comments: payload.comments ?? '',
      type: payload.type ?? '',
      preview: payload.preview ?? false,
      resolved: payload.resolved ?? false,
    }
    const clip = Clip.fromPartial({ clipId: params.clipId, ...fields, ...toTimes(payload) })
    const response = await services.clips.updateClip({ clip, updateMask }, call)
    const [current, previous] = [required(response.clip, 'clip'), required(response.previous, 'clip before')]
    return { new_data: clipResponse(current), original_data: clipResponse(previous), updated: current.clipId }
  },
})

export const deleteClip = route({
  delete: ['/collaborate/clip/:clipId/delete'],
  operationId: 'deleteClip',
  section,
  access,
  summary: 'Delete a clip',
  description: 'Deletes a clip. The later clips of the entry move up.',
  params: clipParams,
  response: z.object({ deleted: schema.id('clip'), original_data: ClipResponse.meta({ description: 'The clip before it was deleted.' }) }),
  async handle({ params }, { services, call }) {
    const clip = required((await services.clips.deleteClip(params, call)).clip, 'clip')
    return { deleted: clip.clipId, original_data: clipResponse(clip) }
  },
})

export const orderClips = route({
  put: ['/collaborate/clip/:collaborateId/order'],
  operationId: 'reorderClips',
  section,
  access,
  summary: 'Reorder the clips of a collaboration entry',
  description:
    'Send the ids of all clips of the entry, each once. They are accepted as a JSON body `[3, 1, 2]`, as `data`, or as the field `order`.',
  params: entryParams,
  payload: z
    .array(idField('clip'), problem('must be an array'))
    .max(MAX_CLIPS, `must have at most ${MAX_CLIPS} items`)
    .meta({ description: 'Id of every clip of the entry, each once.', example: ['3', '1', '2'] }),
  payloadField: 'order',
  publicNames: { clip_ids: 'order' },
  docs: { example: ['54', '62'] },
  response: z.object({
    new_data: z.array(ClipResponse).meta({ description: 'The clips in the new order.' }),
    original_data: z.array(ClipResponse).meta({ description: 'The clips in the previous order.' }),
    updated: schema.id('collaboration entry'),
  }),
  async handle({ params, payload }, { services, call }) {
    const response = await services.clips.orderClips({ collaborationId: params.collaborateId, clipIds: payload }, call)
    return { new_data: response.clips.map(clipResponse), original_data: response.previous.map(clipResponse), updated: params.collaborateId }
  },
})

interface Times {
  time_start?: number | undefined
  time_finish?: number | undefined
  time_start_millis?: number | undefined
  time_finish_millis?: number | undefined
}

function toTimes({ time_start = 0, time_finish = 0, time_start_millis = 0, time_finish_millis = 0 }: Times) {
  return { timeStart: time_start, timeFinish: time_finish, timeStartMillis: time_start_millis, timeFinishMillis: time_finish_millis }
}

export const clipRoutes = [createClip, getClip, updateClip, deleteClip, orderClips]
