import { notFound } from '@vitascope/errors'
import type { Call } from '@vitascope/grpc'
import { type Codec, type Db, jsonCodec, type Transaction, withIdempotency } from '@vitascope/postgres'
import type { Scope } from '@vitascope/principal'
import type { PagePosition } from '@vitascope/request'
import { lockMedia } from '../publishing/media/media-lock.ts'
import { MAX_OVERLAYS, type Overlay, type OverlayFields, overlaysFull } from './overlay.ts'
import { COLUMNS, FIELD_COLUMNS, FIELD_PARAMETERS, fieldValues, type OverlayRow, toOverlay } from './overlay-row.ts'

export interface OverlayKey {
  scope: Scope
  overlayId: string
}

/**
 * `update` and `remove` throw OVERLAY_NOT_FOUND. `create` and `update` throw MEDIA_NOT_FOUND and
 * OVERLAYS_FULL if they set a media.
 */
export interface OverlayStore {
  find(key: OverlayKey, signal?: AbortSignal): Promise<Overlay | undefined>
  /** Returns the overlays that are not disabled. */
  list(organisationId: string, position: PagePosition, signal?: AbortSignal): Promise<Overlay[]>
  /**
   * Stores an overlay. It belongs to the organisation of its media, which must be in the scope. An
   * overlay without a media belongs to the organisation of the scope.
   */
  create(scope: Scope, fields: OverlayFields, call: Pick<Call, 'idempotency' | 'signal'>): Promise<Overlay>
  /**
   * Locks the overlay and stores the fields that `change` returns. `mediaId` is the media to
   * which the overlay is moved. It is empty if the request does not change the media.
   */
  update(key: OverlayKey, mediaId: string, change: (current: Overlay) => OverlayFields, signal?: AbortSignal): Promise<Overlay>
  remove(key: OverlayKey, signal?: AbortSignal): Promise<void>
}

const FIND = `select ${COLUMNS} from overlay where overlay_id = $1 and ($2::bigint is null or organisation_id = $2)`

export function createOverlayStore(db: Db): OverlayStore {
  return {
    async find({ scope, overlayId }, signal) {
      signal?.throwIfAborted()
      const [row] = await db.query<OverlayRow>(FIND, [overlayId, scope])
      return row && toOverlay(row)
    },
    async list(organisationId, { after, limit, skip }, signal) {
      signal?.throwIfAborted()
      const rows = await db.query<OverlayRow>(
        `select ${COLUMNS} from overlay where organisation_id = $1 and not disabled and overlay_id > $2
         order by overlay_id limit $3 offset $4`,
        [organisationId, after, limit, skip],
      )
      return rows.map(toOverlay)
    },
    create: (scope, fields, call) =>
      withIdempotency(db, call, CODEC, async (tx) => {
        const organisationId = fields.mediaId === '' ? scope : await lockMediaBelowLimit(tx, fields.mediaId, scope)
        if (organisationId === null) throw new Error('an overlay without a media needs an organisation')
        const [row] = await tx.query<OverlayRow>(
          `insert into overlay (${FIELD_COLUMNS}, organisation_id) values (${FIELD_PARAMETERS}, $17) returning ${COLUMNS}`,
          [...fieldValues(fields), organisationId],
        )
        if (!row) throw new Error('the insert of an overlay returned no row')
        return toOverlay(row)
      }),
    update: (key, mediaId, change, signal) =>
      db.transaction(async (tx) => {
        const { organisationId, mediaId: currentMediaId } = await requireOverlay(tx, key)
        if (mediaId !== '' && mediaId !== currentMediaId) await lockMediaBelowLimit(tx, mediaId, organisationId)
        const after = change(await requireOverlay(tx, key, 'for update'))
        const [row] = await tx.query<OverlayRow>(
          `update overlay set (${FIELD_COLUMNS}) = (${FIELD_PARAMETERS}), update_time = clock_timestamp() where overlay_id = $17
           returning ${COLUMNS}`,
          [...fieldValues(after), key.overlayId],
        )
        if (!row) throw new Error(`overlay ${key.overlayId} disappeared while it was locked`)
        return toOverlay(row)
      }, signal),
    async remove({ scope, overlayId }, signal) {
      signal?.throwIfAborted()
      const rows = await db.query(
        'delete from overlay where overlay_id = $1 and ($2::bigint is null or organisation_id = $2) returning overlay_id',
        [overlayId, scope],
      )
      if (rows.length === 0) throw notFound('overlay', overlayId)
    },
  }
}

/**
 * Locks a media and returns its organisation. Throws OVERLAYS_FULL if the media has the maximum number of
 * overlays. The lock serialises concurrent inserts.
 */
async function lockMediaBelowLimit(tx: Transaction, mediaId: string, scope: Scope): Promise<string> {
  const media = await lockMedia(tx, mediaId, scope)
  if (!media) throw notFound('media', mediaId)
  const [row] = await tx.query<{ full: boolean }>('select count(*) >= $2 as full from overlay where media_id = $1', [mediaId, MAX_OVERLAYS])
  if (row?.full) throw overlaysFull()
  return media.organisationId
}

async function requireOverlay(tx: Transaction, { scope, overlayId }: OverlayKey, lock: 'for update' | '' = ''): Promise<Overlay> {
  const [row] = await tx.query<OverlayRow>(`${FIND} ${lock}`, [overlayId, scope])
  if (!row) throw notFound('overlay', overlayId)
  return toOverlay(row)
}

const json = jsonCodec<Overlay>()
const CODEC: Codec<Overlay> = {
  encode: json.encode,
  decode(bytes) {
    const overlay = json.decode(bytes)
    return { ...overlay, createTime: new Date(overlay.createTime), updateTime: new Date(overlay.updateTime) }
  },
}
