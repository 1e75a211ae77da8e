import { notFound } from '@vitascope/errors'
import type { Db, Transaction } from '@vitascope/postgres'
import type { PlaybackRule } from '@vitascope/proto/catalogue/v1/playback_rules'
import { addEvent } from '../notification/event/event-store.ts'
import { rotateDeliveryUrls } from '../publishing/media/delivery-set.ts'
import { NO_RULES, type PlaybackRulesStore, type RulesTarget, type StoredPlaybackRules } from './playback-rules.ts'

interface Row {
  default_decision: 'allow' | 'deny' | null
  rules: StoredRule[]
  update_time: Date
}

/** A rule as JSON, in which times are texts. */
type StoredRule = Omit<PlaybackRule, 'when'> & {
  when?: Omit<NonNullable<PlaybackRule['when']>, 'from' | 'until'> & { from?: string; until?: string }
}

/**
 * SQL of the rules of a `video v` and of its `organisation o`, for a policy. Its columns are
 * `video_rules`, `organisation_rules` and `denies_by_default`.
 */
export const EFFECTIVE_RULES = `
  coalesce((select r.rules from playback_rules r where r.video_id = v.video_id), '[]') as video_rules,
  coalesce((select r.rules from playback_rules r where r.organisation_id = o.organisation_id and r.video_id is null), '[]') as organisation_rules,
  coalesce((select r.default_decision from playback_rules r where r.video_id = v.video_id),
    (select r.default_decision from playback_rules r where r.organisation_id = o.organisation_id and r.video_id is null), 'allow') = 'deny'
    as denies_by_default`

export interface EffectiveRulesRow {
  video_rules: StoredRule[]
  organisation_rules: StoredRule[]
  denies_by_default: boolean
}

export function toEffectiveRules({ video_rules, organisation_rules, denies_by_default }: EffectiveRulesRow) {
  return { videoRules: video_rules.map(toRule), organisationRules: organisation_rules.map(toRule), deniesByDefault: denies_by_default }
}

export function createPlaybackRulesStore(db: Db): PlaybackRulesStore {
  return {
    async findOfPlaylist(playlistId, signal) {
      signal?.throwIfAborted()
      const rows = await db.query<EffectiveRulesRow>(
        `select distinct ${EFFECTIVE_RULES} from playlist_video p join video v using (video_id) join organisation o using (organisation_id)
         where p.playlist_id = $1 and v.enabled and v.visibility = 'public'`,
        [playlistId],
      )
      return rows.map(toEffectiveRules)
    },
    async find(target, signal) {
      signal?.throwIfAborted()
      if ('organisationId' in target) {
        const [row] = await db.query<Row>(`select * from playback_rules where organisation_id = $1 and video_id is null`, [
          target.organisationId,
        ])
        return row ? toRules(row) : NO_RULES
      }
      const [row] = await db.query<Row & { rules: StoredRule[] | null }>(
        `select r.default_decision, r.rules, r.update_time from video v left join playback_rules r on r.video_id = v.video_id
         where v.video_id = $1 and ($2::bigint is null or v.organisation_id = $2)`,
        [target.videoId, target.scope],
      )
      if (!row) throw notFound('video', target.videoId)
      return row.rules === null ? NO_RULES : toRules(row)
    },
    set: (target, { defaultDecision, rules }, signal) =>
      db.transaction(async (tx) => {
        const { organisationId, videoId, mediaId } = await lockTarget(tx, target)
        const before = await findStored(tx, organisationId, videoId)
        const conflict = videoId === null ? '(organisation_id) where video_id is null' : '(video_id) where video_id is not null'
        const [row] = await tx.query<Row>(
          `insert into playback_rules (organisation_id, video_id, default_decision, rules) values ($1, $2, $3, $4)
           on conflict ${conflict} do update set default_decision = excluded.default_decision, rules = excluded.rules, update_time = clock_timestamp()
           returning default_decision, rules, update_time`,
          [organisationId, videoId, defaultDecision ?? null, JSON.stringify(rules)],
        )
        if (!row) throw new Error('the insert of playback rules returned no row')
        const data = { organisation_id: organisationId, ...(videoId !== null && { video_id: videoId }), rules: rules.length }
        await addEvent(tx, {
          type: 'playback_rules.changed',
          organisationId,
          objectKey: `playback_rules:${videoId ?? organisationId}`,
          data,
        })
        const changed = toRules(row)
        // URLs that a CDN may have cached for everyone stop working. Files of a restricted video are
        // never cached, so a playing viewer that the new rules allow keeps its URLs.
        if (mediaId !== null && mayRestrict(before, changed)) await rotateDeliveryUrls(tx, mediaId, videoId)
        return changed
      }, signal),
  }
}

async function findStored(tx: Transaction, organisationId: string, videoId: string | null): Promise<StoredPlaybackRules> {
  const [row] = await tx.query<Row>('select * from playback_rules where organisation_id = $1 and video_id is not distinct from $2', [
    organisationId,
    videoId,
  ])
  return row ? toRules(row) : NO_RULES
}

/** Returns whether everyone may have been allowed before a change, and no longer after it. */
function mayRestrict(before: StoredPlaybackRules, after: StoredPlaybackRules): boolean {
  return !deniesSomeone(before) && (deniesSomeone(after) || before.defaultDecision !== after.defaultDecision)
}

function deniesSomeone({ defaultDecision, rules }: StoredPlaybackRules): boolean {
  return defaultDecision === 'deny' || rules.some(({ allows, reportOnly }) => !allows && !reportOnly)
}

interface Locked {
  organisationId: string
  /** Null for the rules of an organisation, like its media. */
  videoId: string | null
  mediaId: string | null
}

async function lockTarget(tx: Transaction, target: RulesTarget): Promise<Locked> {
  if ('organisationId' in target) return { organisationId: target.organisationId, videoId: null, mediaId: null }
  const [row] = await tx.query<{ organisation_id: string; media_id: string }>(
    'select organisation_id, media_id from video where video_id = $1 and ($2::bigint is null or organisation_id = $2) for no key update',
    [target.videoId, target.scope],
  )
  if (!row) throw notFound('video', target.videoId)
  return { organisationId: row.organisation_id, videoId: target.videoId, mediaId: row.media_id }
}

function toRules({ default_decision, rules, update_time }: Row): StoredPlaybackRules {
  return { defaultDecision: default_decision ?? undefined, rules: rules.map(toRule), updateTime: update_time }
}

/** Restores the times of a rule. */
function toRule({ when, ...rule }: StoredRule): PlaybackRule {
  const { from, until, ...conditions } = when ?? { domain: [], referrer: [], country: [], cidr: [], claim: [], kind: [] }
  return { ...rule, when: { ...conditions, from: toDate(from), until: toDate(until) } }
}

function toDate(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : new Date(text)
}
