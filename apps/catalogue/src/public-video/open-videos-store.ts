import type { StoredPolicy } from '@vitascope/playback-policy'
import type { Db } from '@vitascope/postgres'
import { EFFECTIVE_RULES, type EffectiveRulesRow, toEffectiveRules } from '../playback-rules/playback-rules-store.ts'
import { EFFECTIVE_SETTING } from '../setting/setting-store.ts'

type RulesOfVideo = Pick<StoredPolicy, 'videoRules' | 'organisationRules' | 'deniesByDefault'>

export interface OpenVideosStore {
  /** Returns the playback rules of the videos whose profile has no password, by video id. */
  findRules(videoIds: readonly string[], signal?: AbortSignal): Promise<Map<string, RulesOfVideo>>
}

export function createOpenVideosStore(db: Db): OpenVideosStore {
  return {
    async findRules(videoIds, signal) {
      signal?.throwIfAborted()
      const rows = await db.prepared<EffectiveRulesRow & { video_id: string }>(
        `select v.video_id, ${EFFECTIVE_RULES} from video v join organisation o using (organisation_id)
         where v.video_id = any($1::bigint[]) and (select s.password_hash from setting s where ${EFFECTIVE_SETTING}) is null`,
        [videoIds],
      )
      return new Map(rows.map((row) => [row.video_id, toEffectiveRules(row)]))
    },
  }
}
