import { buffer } from 'node:stream/consumers'
import { DomainError } from '@vitascope/errors'
import type { Handlers } from '@vitascope/grpc'
import { codecName, type EncodePlan } from '@vitascope/media'
import type { Db } from '@vitascope/postgres'
import type { EarlyServiceService } from '@vitascope/proto/encoding/v1/early'
import type { ObjectStorage } from '@vitascope/storage'
import { onlyServices } from '../caller.ts'
import { isJobId } from '../job/job.ts'
import { earlyMaster, earlyPlaylist, trackKeys } from './early-playlists.ts'
import { earlyPlan, readTrack } from './early-store.ts'
import { segmentFolders } from './early-track.ts'

export function earlyHandlers({ db, storage }: { db: Db; storage: ObjectStorage }): Handlers<typeof EarlyServiceService> {
  const needPlan = async (jobId: string): Promise<EncodePlan> => {
    const plan = isJobId(jobId) ? await earlyPlan(db.query, jobId) : undefined
    if (!plan) throw nothingYet()
    return plan
  }
  const needTrack = async (jobId: string, key: string) => {
    const track = await readTrack(db.query, jobId, key)
    if (!track) throw nothingYet()
    return track
  }
  return {
    async getEarlyMaster({ jobId }, { principal, signal }) {
      onlyServices(principal)
      const plan = await needPlan(jobId)
      const codecs = new Map<string, string>()
      for (const key of trackKeys(plan)) {
        const { initObject } = await needTrack(jobId, key)
        const codec = codecName(await buffer((await storage.open(initObject, { signal })).stream))
        if (codec) codecs.set(key, codec)
      }
      return { text: earlyMaster(plan, codecs) }
    },
    async getEarlyTrack({ jobId, key }, { principal }) {
      onlyServices(principal)
      const plan = await needPlan(jobId)
      if (!trackKeys(plan).includes(key)) throw nothingYet()
      const track = await needTrack(jobId, key)
      return { playlist: earlyPlaylist(plan, track), initObject: track.initObject, segments: segmentFolders(track.segments) }
    },
  }
}

function nothingYet(): DomainError {
  return new DomainError('not_found', 'EARLY_NOT_FOUND', 'there is nothing to watch of it yet, or not any more')
}
