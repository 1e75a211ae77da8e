import type { PlaybackKey } from '@vitascope/playback-policy'
import type { Db } from '@vitascope/postgres'
import type { PlaybackRule } from '@vitascope/proto/catalogue/v1/playback_rules'
import { ACTIVE_KEYS } from '../playback-key/playback-key-store.ts'
import { EFFECTIVE_RULES, type EffectiveRulesRow, toEffectiveRules } from '../playback-rules/playback-rules-store.ts'
import { EFFECTIVE_SETTING } from '../setting/setting-store.ts'
import { IS_PUBLIC } from './presentation-store.ts'

/** The access rules of a presentation's files, and their locations. */
export interface PresentationPolicy {
  /** The sets of files, one per source file of the presentation. */
  sets: { version: string; prefix: string }[]
  /** The video whose tokens are valid for the presentation. Empty if it has no video. */
  videoId: string
  tokenRequired: boolean
  /** True if the player settings profile of the video has a password. */
  passwordRequired: boolean
  allowedIps: string[]
  expireTime: Date | undefined
  videoRules: PlaybackRule[]
  organisationRules: PlaybackRule[]
  /** True if requests that no rule decides are denied. */
  deniesByDefault: boolean
  /** Active keys of the organisation, which verify tokens. */
  keys: PlaybackKey[]
}

export interface PresentationPolicies {
  /** Returns undefined if the presentation is not public (see `findPublic`) or has no files. */
  find(presentationId: string, signal?: AbortSignal): Promise<PresentationPolicy | undefined>
}

interface Row extends EffectiveRulesRow {
  video_id: string | null
  token_required: boolean
  password_required: boolean
  allowed_ips: string[]
  expire_time: Date | null
  keys: PlaybackKey[]
  sets: { version: string; prefix: string }[]
}

/** The query runs every two seconds for each presentation that is being viewed. It only looks up rows by key. */
const FIND = `
  select p.video_id, coalesce(m.token_required, false) as token_required, v.expire_time,
    (select s.password_hash from setting s where ${EFFECTIVE_SETTING}) is not null as password_required,
    case when coalesce(v.allowed_ips, '{}') = '{}' then o.allowed_ips else v.allowed_ips end as allowed_ips,
    ${EFFECTIVE_RULES}, ${ACTIVE_KEYS} as keys,
    coalesce((select json_agg(json_build_object('version', s.version, 'prefix', s.prefix) order by s.job_id)
              from slide_set s where s.presentation_id = p.presentation_id), '[]') as sets
  from presentation p join organisation o on o.organisation_id = p.organisation_id
    left join video v on v.video_id = p.video_id and v.organisation_id = p.organisation_id left join media m on m.media_id = v.media_id
  where p.presentation_id = $1 and ${IS_PUBLIC}`

export function createPresentationPolicies(db: Db): PresentationPolicies {
  return {
    async find(presentationId, signal) {
      signal?.throwIfAborted()
      const [row] = await db.query<Row>(FIND, [presentationId])
      if (!row || row.sets.length === 0) return undefined
      return {
        sets: row.sets,
        videoId: row.video_id ?? '',
        tokenRequired: row.token_required,
        passwordRequired: row.password_required,
        allowedIps: row.allowed_ips,
        expireTime: row.expire_time ?? undefined,
        ...toEffectiveRules(row),
        keys: row.keys,
      }
    },
  }
}
