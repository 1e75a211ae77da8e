import { invalid } from '@vitascope/errors'
import { Clip } from '@vitascope/proto/collaboration/v1/clip'
import { z } from 'zod'
import { problem } from '../field.ts'
import { flag, id, idField, int, text } from '../fields.ts'
import { given, shown } from '../public-form.ts'
import { route } from '../route.ts'
import { ClipOfEntry, ClipRecord, clipView } from './collaborate-view.ts'

const section = 'Collaboration'
const access = 'user'
const INT32_MAX = 2_147_483_647
const MOST_CLIPS = 200
const ofEntry = z.object({ collaborateId: id('collaboration entry') })
const ofClip = z.object({ clipId: id('clip') })
const seconds = (description: string, example: number) => int({ min: 0, max: INT32_MAX }, { description, example })
const title = text(255, {}, { description: 'Free text.', example: 'Too loud' })
const comments = text(2_000, {}, { description: 'Free text.', example: 'The music covers the voice.' })
const time_start = seconds('Seconds from the beginning.', 3)
const time_finish = seconds('Seconds from the beginning; not before `time_start`, and not after the end of the video.', 7)
const type = text(50, { min: 1 }, { description: 'What kind of clip it is.', example: 'video' })
const preview = flag({ description: 'Whether it is a preview.' })

export const createClip = route({
  post: ['/collaborate/clip/:collaborateId/post'],
  section,
  access,
  summary: 'Add a clip to a collaboration entry',
  description: 'It comes last. An entry holds at most 200.',
  params: ofEntry,
  payload: z.strictObject({
    comments: comments.default(''),
    time_start,
    time_finish,
    type: type.default('video'),
    preview: preview.default(false),
  }),
  answer: z.object({ collaborate_id: shown.id('collaboration entry'), data: ClipRecord, id: shown.id('clip') }),
  refusals: { clips_full: 'the entry has 200 clips' },
  async handle({ params, payload }, { services, call }) {
    const fields = { ...payload, timeStart: payload.time_start, timeFinish: payload.time_finish }
    const clip = Clip.fromPartial({ ...fields, collaborationId: params.collaborateId })
    const made = given((await services.clips.createClip({ clip }, call)).clip, 'clip')
    return { collaborate_id: made.collaborationId, data: clipView(made), id: made.clipId }
  },
})

export const getClip = route({
  get: ['/collaborate/clip/:clipId'],
  section,
  access,
  summary: 'Read a clip',
  params: ofClip,
  answer: ClipOfEntry,
  async handle({ params }, { services, call }) {
    const { clip, userId, videoId } = await services.clips.getClip(params, call)
    return { ...clipView(given(clip, 'clip')), user_id: userId, video_id: videoId }
  },
})

export const updateClip = route({
  put: ['/collaborate/clip/:clipId/put'],
  section,
  access,
  summary: 'Change a clip',
  params: ofClip,
  payload: z.strictObject({
    title: title.optional(),
    comments: comments.optional(),
    time_start: time_start.optional(),
    time_finish: time_finish.optional(),
    type: type.optional(),
    preview: preview.optional(),
  }),
  answer: z.object({
    new_data: ClipRecord.meta({ description: 'The clip as it is now.' }),
    original_data: ClipRecord.meta({ description: 'The clip as it was.' }),
    updated: shown.id('clip'),
  }),
  async handle({ params, payload }, { services, call }) {
    const updateMask = Object.keys(payload)
    if (updateMask.length === 0) throw invalid([{ field: 'payload', message: 'must have at least one field' }])
    const fields = {
      title: payload.title ?? '',
      comments: payload.comments ?? '',
      type: payload.type ?? '',
      preview: payload.preview ?? false,
    }
    const times = { timeStart: payload.time_start ?? 0, timeFinish: payload.time_finish ?? 0 }
    const clip = Clip.fromPartial({ clipId: params.clipId, ...fields, ...times })
    const answer = await services.clips.updateClip({ clip, updateMask }, call)
    const [now, before] = [given(answer.clip, 'clip'), given(answer.previous, 'clip before')]
    return { new_data: clipView(now), original_data: clipView(before), updated: now.clipId }
  },
})

export const deleteClip = route({
  delete: ['/collaborate/clip/:clipId/delete'],
  section,
  access,
  summary: 'Delete a clip',
  description: 'Those behind it move up.',
  params: ofClip,
  answer: z.object({ deleted: shown.id('clip'), original_data: ClipRecord.meta({ description: 'The clip as it was.' }) }),
  async handle({ params }, { services, call }) {
    const clip = given((await services.clips.deleteClip(params, call)).clip, 'clip')
    return { deleted: clip.clipId, original_data: clipView(clip) }
  },
})

export const orderClips = route({
  put: ['/collaborate/clip/:collaborateId/order'],
  section,
  access,
  summary: 'Put the clips of a collaboration entry into another order',
  description: 'Takes the ids of all its clips, each once: as a JSON body `[3, 1, 2]`, as `data`, or as the field `order`.',
  params: ofEntry,
  payload: z
    .array(idField('clip'), problem('must be an array'))
    .max(MOST_CLIPS, `must have at most ${MOST_CLIPS} items`)
    .meta({ description: 'Every clip of the entry, once.', example: ['3', '1', '2'] }),
  payloadField: 'order',
  answer: z.object({
    new_data: z.array(ClipRecord).meta({ description: 'The clips in their new order.' }),
    original_data: z.array(ClipRecord).meta({ description: 'The clips in the order that they had.' }),
    updated: shown.id('collaboration entry'),
  }),
  async handle({ params, payload }, { services, call }) {
    const answer = await services.clips.orderClips({ collaborationId: params.collaborateId, clipIds: payload }, call)
    return { new_data: answer.clips.map(clipView), original_data: answer.previous.map(clipView), updated: params.collaborateId }
  },
})

export const clipRoutes = [createClip, getClip, updateClip, deleteClip, orderClips]
