import type { PlaybackKey } from '@vitascope/playback-policy'
import type { Db } from '@vitascope/postgres'
import { type CaptionSummaryRow, selectCaptions } from '../caption/caption-row.ts'
import { nameCaptions } from '../caption/shown-caption.ts'
import { EFFECTIVE_ALLOWED_IPS } from '../ip-allowlist/address-check.ts'
import { ACTIVE_KEYS } from '../playback-key/playback-key-store.ts'
import { EFFECTIVE_RULES, type EffectiveRulesRow, toEffectiveRules } from '../playback-rules/playback-rules-store.ts'
import { EFFECTIVE_SETTING } from '../setting/setting-store.ts'
import type { PlaybackPolicy, PlaybackPolicyStore } from './playback-policy.ts'

interface Row extends EffectiveRulesRow {
  organisation_id: string
  version: string
  prefix: string
  earlier: { version: string; prefix: string }[]
  added: PlaybackPolicy['added']
  poster_job_id: string | null
  poster_prefix: string | null
  token_required: boolean
  is_private: boolean
  max_sessions: number
  password_required: boolean
  allowed_ips: string[]
  expire_time: Date | null
  keys: PlaybackKey[]
  master_path: string | null
  duration_seconds: number | null
  lowest_height: number | null
  show_on_load: string
  captions_on: boolean
  captions: CaptionSummaryRow[]
}

/**
 * Renditions that were added to the current set or to an earlier set that is still served.
 * Renditions of other sets are omitted.
 */
const ADDED_RENDITIONS = `
  coalesce((select json_agg(json_build_object('jobId', a.job_id::text, 'prefix', a.prefix, 'setPrefix', served_set.prefix) order by a.job_id)
            from added_rendition a join (
              select m.set_job_id as job_id, playing.set ->> 'prefix' as prefix
              union select s.job_id, s.prefix from delivery_set s where s.video_id = v.video_id and s.expire_time > now()) served_set
              on served_set.job_id = a.set_job_id), '[]')`

const FIND = `
  select v.organisation_id, v.delivery_version as version, coalesce(playing.set ->> 'prefix', p.prefix) as prefix, m.token_required, v.visibility = 'private' as is_private, v.expire_time,
    (select s.password_hash from setting s where ${EFFECTIVE_SETTING}) is not null as password_required,
    coalesce((select s.max_sessions from setting s where ${EFFECTIVE_SETTING}), 0) as max_sessions,
    ${EFFECTIVE_ALLOWED_IPS} as allowed_ips, ${EFFECTIVE_RULES}, ${ACTIVE_KEYS} as keys,
    playing.set ->> 'hlsPath' as master_path, (playing.set ->> 'durationSeconds')::float8 as duration_seconds,
    (select min(height::int) from jsonb_path_query(playing.set, '$.renditions[*].height') height where height::int > 0) as lowest_height,
    v.captions_show_on_load as show_on_load,
    coalesce((select s.captions_default_on from setting s where ${EFFECTIVE_SETTING}), false) as captions_on, ${selectCaptions('m.media_id')} as captions,
    coalesce((select json_agg(json_build_object('version', s.version, 'prefix', s.prefix) order by s.expire_time desc)
              from delivery_set s where s.video_id = v.video_id and s.expire_time > now()), '[]') as earlier,
    ${ADDED_RENDITIONS} as added, p.set_job_id as poster_job_id, p.prefix as poster_prefix
  from video v join media m using (media_id) join organisation o on o.organisation_id = v.organisation_id
    left join poster p on p.video_id = v.video_id and p.prefix is not null,
    lateral (select coalesce(m.renditions, m.preview) as set) playing
  where v.video_id = $1 and v.enabled and o.active and ($2 or v.expire_time is null or v.expire_time > now())
    and v.delivery_version <> '' and coalesce(playing.set ->> 'prefix', p.prefix) is not null`

export function createPlaybackPolicyStore(db: Db): PlaybackPolicyStore {
  const find = async (videoId: string, includesExpired: boolean, signal?: AbortSignal): Promise<PlaybackPolicy | undefined> => {
    signal?.throwIfAborted()
    const [row] = await db.prepared<Row>(FIND, [videoId, includesExpired])
    return (
      row && {
        organisationId: row.organisation_id,
        sets: [{ version: row.version, prefix: row.prefix }, ...row.earlier],
        added: row.added,
        poster:
          row.poster_job_id === null || row.poster_prefix === null ? undefined : { jobId: row.poster_job_id, prefix: row.poster_prefix },
        tokenRequired: row.token_required,
        isPrivate: row.is_private,
        maxSessions: row.max_sessions,
        passwordRequired: row.password_required,
        allowedIps: row.allowed_ips,
        ...toEffectiveRules(row),
        keys: row.keys,
        expireTime: row.expire_time ?? undefined,
        masterPath: row.master_path ?? '',
        durationSeconds: row.duration_seconds ?? 0,
        lowestHeight: row.lowest_height ?? undefined,
        captions: nameCaptions(row.captions, { showOnLoad: row.show_on_load, defaultOn: row.captions_on }).map((caption, index) => ({
          ...caption,
          revision: row.captions[index]?.revision ?? 0,
        })),
      }
    )
  }
  return {
    find: (videoId, signal) => find(videoId, false, signal),
    findIncludingExpired: (videoId, signal) => find(videoId, true, signal),
    async sweep(limit) {
      const rows = await db.query(
        `delete from delivery_set where (video_id, version) in
           (select video_id, version from delivery_set where expire_time < now() order by expire_time limit $1) returning 1`,
        [limit],
      )
      return rows.length
    },
  }
}
