import { invalid } from '@vitascope/errors'
import { Entry } from '@vitascope/proto/collaboration/v1/entry'
import { z } from 'zod'
import { id, idField, pathPart, text } from '../fields.ts'
import { nextLink, pageQuery, placeNames, placeOf } from '../pages.ts'
import { given, shown } from '../public-form.ts'
import { withPublicNames } from '../public-names.ts'
import { Reply, route } from '../route.ts'
import { EntryRecord, entryView, NewEntryData, newEntryView } from './collaborate-view.ts'

const section = 'Collaboration'
const access = 'user'
const ofVideo = z.object({ videoId: id('video') })
const ofEntry = z.object({ collaborateId: id('collaboration entry') })
const user = idField('user', { description: 'A user of the video’s organisation.', example: '7' })

export const listEntries = route({
  get: ['/collaborate/:videoId'],
  section,
  access,
  summary: 'List the collaboration entries of a video',
  description: 'By their ids, oldest first, with their clips. Very large entries come in several pages: follow the `Link` header.',
  params: ofVideo,
  query: z.object(pageQuery),
  answer: z.record(z.string(), EntryRecord),
  async handle({ params: { videoId }, query }, { services, call, publicUrl }) {
    const page = { pageSize: query.limit, ...placeOf(query) }
    const { entries, nextPageToken } = await withPublicNames(placeNames, services.entries.listEntries({ videoId, ...page }, call))
    // A page may end before its limit.
    const start = query.start + entries.length - query.limit
    const headers = nextLink(publicUrl, `/collaborate/${videoId}`, { start, limit: query.limit, more: nextPageToken })
    return new Reply(Object.fromEntries(entries.map((entry) => [entry.collaborationId, entryView(entry)])), { headers })
  },
})

export const getEntryByEmail = route({
  get: ['/collaborate/:videoId/user/:email'],
  section,
  access,
  summary: 'Read the collaboration entry of an email address',
  description: 'Of the entries of the video that have the address, or whose user has it, the newest.',
  params: z.object({ videoId: id('video'), email: pathPart({ description: 'In any case.', example: 'ann@example.org' }) }),
  answer: EntryRecord,
  async handle({ params }, { services, call }) {
    return entryView(given((await services.entries.getEntryByEmail(params, call)).entry, 'entry'))
  },
})

export const createEntry = route({
  post: ['/collaborate/:videoId'],
  section,
  access,
  summary: 'Create a collaboration entry of a video',
  description: 'A video has at most 100. System keys may leave `user_id` out: the entry is then nobody’s.',
  params: ofVideo,
  payload: z.strictObject({ user_id: user.optional() }),
  payloadOptional: true,
  answer: z.object({ id: shown.id('collaboration entry'), data: NewEntryData }),
  refusals: { collaboration_full: 'the video has 100 entries', user_not_found: 'no such user in the video’s organisation' },
  async handle({ params: { videoId }, payload }, { services, call }) {
    const entry = given((await services.entries.createEntry({ videoId, userId: payload.user_id ?? '' }, call)).entry, 'entry')
    return { id: entry.collaborationId, data: newEntryView(entry) }
  },
})

export const getEntry = route({
  get: ['/collaborate/item/:collaborateId'],
  section,
  access,
  summary: 'Read a collaboration entry',
  params: ofEntry,
  answer: EntryRecord,
  async handle({ params }, { services, call }) {
    return entryView(given((await services.entries.getEntry({ collaborationId: params.collaborateId }, call)).entry, 'entry'))
  },
})

export const updateEntry = route({
  put: ['/collaborate/item/:collaborateId/put'],
  section,
  access,
  summary: 'Change a collaboration entry',
  description: 'Takes `user_id`, `email`, or both. An empty `email` leaves that of the user.',
  params: ofEntry,
  payload: z.strictObject({
    user_id: user.optional(),
    email: text(
      254,
      {},
      { description: 'An address of the entry’s own; empty for that of its user.', example: 'ann@example.org' },
    ).optional(),
  }),
  answer: z.object({
    updated: shown.id('collaboration entry'),
    original_data: EntryRecord.meta({ description: 'The entry as it was.' }),
    new_data: EntryRecord.meta({ description: 'The entry as it is now.' }),
  }),
  refusals: { user_not_found: 'no such user in the video’s organisation' },
  async handle({ params, payload }, { services, call }) {
    const updateMask = Object.keys(payload)
    if (updateMask.length === 0) throw invalid([{ field: 'payload', message: 'must have user_id or email' }])
    const { user_id = '', email = '' } = payload
    const entry = Entry.create({ collaborationId: params.collaborateId, userId: user_id, email })
    const answer = await services.entries.updateEntry({ entry, updateMask }, call)
    const [now, before] = [given(answer.entry, 'entry'), given(answer.previous, 'entry before')]
    return { updated: now.collaborationId, original_data: entryView(before), new_data: entryView(now) }
  },
})

export const deleteEntry = route({
  delete: ['/collaborate/item/:collaborateId', '/collaborate/item/:collaborateId/delete'],
  section,
  access,
  summary: 'Delete a collaboration entry',
  description: 'Its clips are deleted too.',
  params: ofEntry,
  answer: z.object({
    deleted: shown.id('collaboration entry'),
    original_data: EntryRecord.meta({ description: 'The entry as it was.' }),
  }),
  async handle({ params }, { services, call }) {
    const entry = given((await services.entries.deleteEntry({ collaborationId: params.collaborateId }, call)).entry, 'entry')
    return { deleted: entry.collaborationId, original_data: entryView(entry) }
  },
})

export const entryRoutes = [listEntries, getEntryByEmail, createEntry, getEntry, updateEntry, deleteEntry]
