import { invalid, notFound } from '@vitascope/errors'
import type { Handlers } from '@vitascope/grpc'
import { getScope } from '@vitascope/principal'
import type { ClipServiceService } from '@vitascope/proto/collaboration/v1/clip'
import { readMask } from '@vitascope/request'
import { type Clients, requireResolved } from '../clients/resolve-references.ts'
import { CHANGEABLE, checkClip, MAX_CLIPS, mergeClip } from './clip.ts'
import type { ClipStore } from './clip-store.ts'
import type { EntryStore } from './entry-store.ts'

export interface ClipParts extends Clients {
  clips: ClipStore
  entries: Pick<EntryStore, 'findHead'>
}

const ALL_FIELDS = new Set(CHANGEABLE)

export function clipHandlers({ clips, entries, ...clients }: ClipParts): Handlers<typeof ClipServiceService> {
  return {
    async createClip({ clip: input }, call) {
      const key = { scope: getScope(call.principal), collaborationId: input?.collaborationId ?? '' }
      const earlierResult = await clips.findCreated(call)
      if (earlierResult) return { clip: earlierResult }
      const record = { noun: 'collaboration', id: key.collaborationId }
      const { video } = await requireResolved(clients, await entries.findHead(key, call.signal), record, call)
      if (!input) throw notFound('collaboration', '')
      const fields = checkClip({ ...input, title: '' }, ALL_FIELDS, video.durationSeconds)
      return { clip: await clips.create(key, fields, call) }
    },
    async getClip({ clipId }, call) {
      const resource = await clips.find({ scope: getScope(call.principal), clipId }, call.signal)
      const { row } = await requireResolved(clients, resource, { noun: 'clip', id: clipId }, call)
      return row
    },
    async updateClip({ clip: input, updateMask }, call) {
      const key = { scope: getScope(call.principal), clipId: input?.clipId ?? '' }
      const resource = await clips.find(key, call.signal)
      const { video } = await requireResolved(clients, resource, { noun: 'clip', id: key.clipId }, call)
      const mask = readMask(updateMask, CHANGEABLE)
      if (!input) throw notFound('clip', '')
      return clips.update(key, (current) => checkClip(mergeClip(current, input, mask), mask, video.durationSeconds), call.signal)
    },
    async deleteClip({ clipId }, call) {
      const key = { scope: getScope(call.principal), clipId }
      await requireResolved(clients, await clips.find(key, call.signal), { noun: 'clip', id: clipId }, call)
      return { clip: await clips.remove(key, call.signal) }
    },
    async orderClips({ collaborationId, clipIds }, call) {
      const key = { scope: getScope(call.principal), collaborationId }
      if (clipIds.length > MAX_CLIPS) throw invalid([{ field: 'clip_ids', message: `must have at most ${MAX_CLIPS} items` }])
      await requireResolved(clients, await entries.findHead(key, call.signal), { noun: 'collaboration', id: collaborationId }, call)
      return clips.order(key, clipIds, call.signal)
    },
  }
}
