import { invalid, notFound } from '@vitascope/errors'
import type { Handlers } from '@vitascope/grpc'
import { scopeOf } from '@vitascope/principal'
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

const ALL = new Set(CHANGEABLE)

export function clipHandlers({ clips, entries, ...clients }: ClipParts): Handlers<typeof ClipServiceService> {
  return {
    async createClip({ clip: given }, call) {
      const key = { scope: scopeOf(call.principal), collaborationId: given?.collaborationId ?? '' }
      const before = await clips.createdBefore(call)
      if (before) return { clip: before }
      const missing = { noun: 'collaboration', id: key.collaborationId }
      const { video } = await requireResolved(clients, await entries.findHead(key, call.signal), missing, call)
      if (!given) throw notFound('collaboration', '')
      const fields = checkClip({ ...given, title: '' }, ALL, video.durationSeconds)
      return { clip: await clips.create(key, fields, call) }
    },
    async getClip({ clipId }, call) {
      const found = await clips.find({ scope: scopeOf(call.principal), clipId }, call.signal)
      const { row } = await requireResolved(clients, found, { noun: 'clip', id: clipId }, call)
      return row
    },
    async updateClip({ clip: given, updateMask }, call) {
      const key = { scope: scopeOf(call.principal), clipId: given?.clipId ?? '' }
      const found = await clips.find(key, call.signal)
      const { video } = await requireResolved(clients, found, { noun: 'clip', id: key.clipId }, call)
      const named = readMask(updateMask, CHANGEABLE)
      if (!given) throw notFound('clip', '')
      return clips.update(key, (now) => checkClip(mergeClip(now, given, named), named, video.durationSeconds), call.signal)
    },
    async deleteClip({ clipId }, call) {
      const key = { scope: scopeOf(call.principal), clipId }
      await requireResolved(clients, await clips.find(key, call.signal), { noun: 'clip', id: clipId }, call)
      return { clip: await clips.remove(key, call.signal) }
    },
    async orderClips({ collaborationId, clipIds }, call) {
      const key = { scope: scopeOf(call.principal), collaborationId }
      if (clipIds.length > MAX_CLIPS) throw invalid([{ field: 'clip_ids', message: `must have at most ${MAX_CLIPS} items` }])
      await requireResolved(clients, await entries.findHead(key, call.signal), { noun: 'collaboration', id: collaborationId }, call)
      return clips.order(key, clipIds, call.signal)
    },
  }
}
