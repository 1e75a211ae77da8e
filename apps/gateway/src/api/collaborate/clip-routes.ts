import { invalid } from '@vitascope/errors'
import { Clip } from '@vitascope/proto/collaboration/v1/clip'
import { z } from 'zod'
import { route } from '../../server/route/route.ts'
import { problem } from '../../server/schema/field.ts'
import { id, idField } from '../../server/schema/fields.ts'
import { required, schema } from '../../server/schema/response-format.ts'
import { clipChanges, clipFields, toTimes } from './clip-fields.ts'
import { ClipOfEntryResponse, ClipResponse, clipResponse } from './collaborate-response.ts'

const section = 'Collaboration'
const access = 'user'
const MAX_CLIPS = 200
const entryParams = z.object({ collaborateId: id('collaboration entry') })
const clipParams = z.object({ clipId: id('clip') })

export const createClip = route({
  post: ['/collaborate/clip/:collaborateId/post'],
  operationId: 'createClip',
  section,
  access,
  summary: 'Add a clip to a collaboration entry',
  description: 'Adds a clip at the end of the entry. An entry has at most 200 clips.',
  params: entryParams,
  payload: clipFields,
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
  payload: clipChanges,
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

export const clipRoutes = [createClip, getClip, updateClip, deleteClip, orderClips]
