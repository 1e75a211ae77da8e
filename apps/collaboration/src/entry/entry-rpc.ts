import { DomainError, invalid, notFound } from '@vitascope/errors'
import type { Handlers } from '@vitascope/grpc'
import { getScope, requireUser } from '@vitascope/principal'
import { Entry as EntryMessage, type EntryServiceService } from '@vitascope/proto/collaboration/v1/entry'
import { readMask } from '@vitascope/request'
import { type Clients, requireResolved, withUsers } from '../clients/resolve-references.ts'
import { CHANGEABLE, checkEmail, type Entry } from './entry.ts'
import { toMessage } from './entry-message.ts'
import { readEntryPage } from './entry-page.ts'
import type { EntryStore } from './entry-store.ts'

export interface EntryParts extends Clients {
  entries: EntryStore
}

export function entryHandlers({ entries, ...clients }: EntryParts): Handlers<typeof EntryServiceService> {
  const { videos, users } = clients
  return {
    async createEntry({ videoId, userId, email: input }, call) {
      const caller = requireUser(call.principal)
      const earlierResult = await entries.findCreated(call)
      if (earlierResult) return { entry: toMessage(earlierResult, undefined) }
      const { organisationId } = await videos.require(getScope(caller), videoId, call)
      const email = checkEmail(input)
      if (userId !== '') await users.require(organisationId, userId, call)
      else if (email === '' && caller.userType !== 'system') throw invalid([{ field: 'user_id', message: 'or email is required' }])
      const entry = await entries.create({ videoId, organisationId, userId, email, byUserId: caller.userId }, call)
      return { entry: toMessage(entry, undefined) }
    },
    async getEntry({ collaborationId }, call) {
      const entry = await entries.find({ scope: getScope(call.principal), collaborationId }, call.signal)
      const { row, user } = await requireResolved(clients, entry, { noun: 'collaboration', id: collaborationId }, call)
      return { entry: toMessage(row, user) }
    },
    async getEntryByEmail({ videoId, email }, call) {
      const scope = getScope(call.principal)
      const [, user] = await Promise.all([videos.require(scope, videoId, call), users.findByEmail(email, call)])
      const heads = await entries.findHeads({ scope, videoId, email, userId: user?.userId }, call.signal)
      const [newest] = await withUsers(users, heads, call)
      const { collaborationId = '' } = newest?.row ?? {}
      const entry = newest && (await entries.find({ scope, collaborationId }, call.signal))
      if (!entry)
        throw new DomainError('not_found', 'COLLABORATION_NOT_FOUND', 'the video has no collaboration entry for this email address')
      return { entry: toMessage(entry, newest.user) }
    },
    async listEntries({ videoId, ...page }, call) {
      const scope = getScope(call.principal)
      await videos.require(scope, videoId, call)
      const messageSize = (entry: Entry) => EntryMessage.encode(toMessage(entry, undefined)).finish().length
      const entryPage = await readEntryPage(page, (position) => entries.list({ scope, videoId, ...position }, call.signal), messageSize)
      const entriesWithUsers = await withUsers(users, entryPage.entries, call)
      return { entries: entriesWithUsers.map(({ row, user }) => toMessage(row, user)), nextPageToken: entryPage.nextPageToken }
    },
    async updateEntry({ entry: input, updateMask }, call) {
      const caller = requireUser(call.principal)
      const key = { scope: getScope(caller), collaborationId: input?.collaborationId ?? '' }
      const head = await entries.findHead(key, call.signal)
      const { row, user: before } = await requireResolved(clients, head, { noun: 'collaboration', id: key.collaborationId }, call)
      if (!input) throw notFound('collaboration', '')
      const mask = readMask(updateMask, CHANGEABLE)
      const email = mask.has('email') ? checkEmail(input.email) : undefined
      const user = mask.has('user_id') ? await users.require(row.organisationId, input.userId, call) : undefined
      const { entry, previous } = await entries.update(
        key,
        caller.userId,
        (current) => ({ userId: user?.userId ?? current.userId, email: email ?? current.email }),
        call.signal,
      )
      // Another call may have changed the user in the meantime.
      const knownUsers = new Map([user, before].flatMap((one) => (one ? [[one.userId, one]] : [])))
      const unknownUserIds = [entry, previous].map(({ userId }) => userId).filter((userId) => !knownUsers.has(userId))
      const summaries = new Map([...knownUsers, ...(await users.find(unknownUserIds, call))])
      return { entry: toMessage(entry, summaries.get(entry.userId)), previous: toMessage(previous, summaries.get(previous.userId)) }
    },
    async deleteEntry({ collaborationId }, call) {
      const key = { scope: getScope(call.principal), collaborationId }
      const head = await entries.findHead(key, call.signal)
      const { user } = await requireResolved(clients, head, { noun: 'collaboration', id: collaborationId }, call)
      return { entry: toMessage(await entries.remove(key, call.signal), user) }
    },
  }
}
