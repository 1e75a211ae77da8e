import { invalid } from '@vitascope/errors'
import { Entry } from '@vitascope/proto/collaboration/v1/entry'
import { z } from 'zod'
import { Reply } from '../../server/route/reply.ts'
import { route } from '../../server/route/route.ts'
import { id, idField, pathPart, text } from '../../server/schema/fields.ts'
import { nextLink, pageQuery, toPosition } from '../../server/schema/pagination.ts'
import { required, schema } from '../../server/schema/response-format.ts'
import { EntryResponse, entryResponse, NewEntryResponse, newEntryResponse } from './collaborate-response.ts'

const section = 'Collaboration'
const access = 'user'
const videoParams = z.object({ videoId: id('video') })
const entryParams = z.object({ collaborateId: id('collaboration entry') })
const user = idField('user', { description: 'Id of a user of the video’s organisation.', example: '7' })
const email = text(
  254,
  {},
  { description: 'Email address of the entry. If it is empty, the address of its user applies.', example: 'ann@example.org' },
)

export const listEntries = route({
  get: ['/collaborate/:videoId'],
  operationId: 'listCollaborationEntries',
  section,
  access,
  summary: 'List the collaboration entries of a video',
  description: 'Returns the entries with their clips, by id, oldest first. Large results are split into pages. Follow the `Link` header.',
  params: videoParams,
  query: z.object(pageQuery),
  response: z.record(z.string(), EntryResponse),
  async handle({ params: { videoId }, query }, { services, call, publicUrl }) {
    const page = { pageSize: query.limit, ...toPosition(query) }
    const { entries, nextPageToken } = await services.entries.listEntries({ videoId, ...page }, call)
    // `nextLink` adds the limit to this start, but a page may have fewer rows than its limit.
    const start = query.start + entries.length - query.limit
    const headers = nextLink(publicUrl, `/collaborate/${videoId}`, { start, limit: query.limit, nextCursor: nextPageToken })
    return new Reply(Object.fromEntries(entries.map((entry) => [entry.collaborationId, entryResponse(entry)])), { headers })
  },
})

export const getEntryByEmail = route({
  get: ['/collaborate/:videoId/user/:email'],
  operationId: 'getCollaborationEntryByEmail',
  section,
  access,
  summary: 'Read the collaboration entry of an email address',
  description: 'Returns the newest entry of the video with this email address, or whose user has it.',
  params: z.object({
    videoId: id('video'),
    email: pathPart({ description: 'Email address. It is case-insensitive.', example: 'ann@example.org' }),
  }),
  response: EntryResponse,
  errorCodes: { collaboration_not_found: 'The video has no entry of this email address.' },
  async handle({ params }, { services, call }) {
    return entryResponse(required((await services.entries.getEntryByEmail(params, call)).entry, 'entry'))
  },
})

export const createEntry = route({
  post: ['/collaborate/:videoId'],
  operationId: 'createCollaborationEntry',
  section,
  access,
  summary: 'Create a collaboration entry of a video',
  description: `Creates an entry for a user, or for a guest with an email address. A video has at most 100 entries. System keys may omit
both. A guest receives access by the guest link of the entry.`,
  params: videoParams,
  payload: z.strictObject({ user_id: user.optional(), email: email.optional() }),
  payloadOptional: true,
  docs: { example: { user_id: '7' } },
  response: z.object({ id: schema.id('collaboration entry'), data: NewEntryResponse }),
  errorCodes: {
    collaboration_full: 'The video already has 100 entries.',
    user_not_found: 'The organisation of the video has no such user.',
  },
  async handle({ params: { videoId }, payload }, { services, call }) {
    const request = { videoId, userId: payload.user_id ?? '', email: payload.email ?? '' }
    const entry = required((await services.entries.createEntry(request, call)).entry, 'entry')
    return { id: entry.collaborationId, data: newEntryResponse(entry) }
  },
})

export const getEntry = route({
  get: ['/collaborate/item/:collaborateId'],
  operationId: 'getCollaborationEntry',
  section,
  access,
  summary: 'Read a collaboration entry',
  description: 'Returns a collaboration entry with its clips.',
  params: entryParams,
  response: EntryResponse,
  async handle({ params }, { services, call }) {
    return entryResponse(required((await services.entries.getEntry({ collaborationId: params.collaborateId }, call)).entry, 'entry'))
  },
})

export const updateEntry = route({
  put: ['/collaborate/item/:collaborateId/put'],
  operationId: 'updateCollaborationEntry',
  section,
  access,
  summary: 'Change a collaboration entry',
  description: 'Accepts `user_id`, `email`, or both. An empty `email` selects the email address of the user.',
  params: entryParams,
  payload: z.strictObject({
    user_id: user.optional(),
    email: email.optional(),
  }),
  record: EntryResponse,
  docs: { example: { email: 'ann@example.org' } },
  response: z.object({
    updated: schema.id('collaboration entry'),
    original_data: EntryResponse.meta({ description: 'The entry before the change.' }),
    new_data: EntryResponse.meta({ description: 'The entry after the change.' }),
  }),
  errorCodes: { user_not_found: 'The organisation of the video has no such user.' },
  async handle({ params, payload }, { services, call }) {
    const updateMask = Object.keys(payload)
    if (updateMask.length === 0) throw invalid([{ field: 'payload', message: 'must have user_id or email' }])
    const { user_id = '', email = '' } = payload
    const entry = Entry.create({ collaborationId: params.collaborateId, userId: user_id, email })
    const response = await services.entries.updateEntry({ entry, updateMask }, call)
    const [current, previous] = [required(response.entry, 'entry'), required(response.previous, 'entry before')]
    return { updated: current.collaborationId, original_data: entryResponse(previous), new_data: entryResponse(current) }
  },
})

export const deleteEntry = route({
  delete: ['/collaborate/item/:collaborateId', '/collaborate/item/:collaborateId/delete'],
  operationId: 'deleteCollaborationEntry',
  section,
  access,
  summary: 'Delete a collaboration entry',
  description: 'Deletes an entry with its clips.',
  params: entryParams,
  response: z.object({
    deleted: schema.id('collaboration entry'),
    original_data: EntryResponse.meta({ description: 'The entry before it was deleted.' }),
  }),
  async handle({ params }, { services, call }) {
    const entry = required((await services.entries.deleteEntry({ collaborationId: params.collaborateId }, call)).entry, 'entry')
    return { deleted: entry.collaborationId, original_data: entryResponse(entry) }
  },
})

export const entryRoutes = [listEntries, getEntryByEmail, createEntry, getEntry, updateEntry, deleteEntry]
