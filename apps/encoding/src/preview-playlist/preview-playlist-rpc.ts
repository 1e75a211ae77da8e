import { buffer } from 'node:stream/consumers'
import { DomainError } from '@vitascope/errors'
import type { Handlers } from '@vitascope/grpc'
import { codecName, type EncodePlan } from '@vitascope/media'
import type { Db } from '@vitascope/postgres'
import { requireService } from '@vitascope/principal'
import type { PreviewPlaylistServiceService } from '@vitascope/proto/encoding/v1/preview_playlist'
import { isId } from '@vitascope/request'
import type { ObjectStorage } from '@vitascope/storage'
import { previewMaster, previewPlaylist, trackKeys } from './preview-playlist.ts'
import { previewPlan, readTrack } from './preview-playlist-store.ts'
import { segmentFolders } from './preview-track.ts'

export function previewHandlers({ db, storage }: { db: Db; storage: ObjectStorage }): Handlers<typeof PreviewPlaylistServiceService> {
  const requirePlan = async (jobId: string): Promise<EncodePlan> => {
    const plan = isId(jobId) ? await previewPlan(db.query, jobId) : undefined
    if (!plan) throw previewNotFound()
    return plan
  }
  const requireTrack = async (jobId: string, key: string) => {
    const track = await readTrack(db.query, jobId, key)
    if (!track) throw previewNotFound()
    return track
  }
  return {
    async getPreviewMasterPlaylist({ jobId }, { principal, signal }) {
      requireService(principal)
      const plan = await requirePlan(jobId)
      const codecs = new Map<string, string>()
      for (const key of trackKeys(plan)) {
        const { initObject } = await requireTrack(jobId, key)
        const codec = codecName(await buffer((await storage.open(initObject, { signal })).stream))
        if (codec) codecs.set(key, codec)
      }
      return { text: previewMaster(plan, codecs) }
    },
    async getPreviewTrackPlaylist({ jobId, key }, { principal }) {
      requireService(principal)
      const plan = await requirePlan(jobId)
      if (!trackKeys(plan).includes(key)) throw previewNotFound()
      const track = await requireTrack(jobId, key)
      return { playlist: previewPlaylist(plan, track), initObject: track.initObject, segments: segmentFolders(track.segments) }
    },
  }
}

function previewNotFound(): DomainError {
  return new DomainError('not_found', 'PREVIEW_NOT_FOUND', 'nothing of this job is playable yet, or the job has ended')
}
