import { DomainError, notFound } from '@vitascope/errors'
import type { Call } from '@vitascope/grpc'
import { type Db, jsonCodec, type Query, withIdempotency } from '@vitascope/postgres'
import type { Enqueue } from '../job/job-messages.ts'
import { lockMedia } from '../media/media-lock.ts'
import { startRendition } from './start-renditions.ts'

export interface MediaFormats {
  mediaId: string
  title: string
  profileIds: number[]
}

export interface OrganisationFormat {
  organisationFormatId: number
  profileId: number
}

type IdempotentCall = Pick<Call, 'idempotency' | 'signal'>

export interface EncodingFormatStore {
  findOfMedia(mediaId: string, signal: AbortSignal): Promise<MediaFormats | undefined>
  /**
   * Adds a format to a media, and queues the rendition if the media has a rendition set. Returns the
   * formats, and the id of the job. The id is `''` if the media has no set yet, or already has the
   * rendition. Throws MEDIA_NOT_FOUND, NO_PICTURE and quota errors.
   */
  addToMedia(
    request: { mediaId: string; profileId: number; userId: string },
    call: IdempotentCall,
  ): Promise<MediaFormats & { jobId: string }>
  findOfOrganisation(organisationId: string, signal: AbortSignal): Promise<OrganisationFormat[]>
  addToOrganisation(organisationId: string, profileId: number, signal: AbortSignal): Promise<OrganisationFormat[]>
  /** Throws ENCODING_FORMAT_NOT_FOUND. */
  removeFromOrganisation(organisationFormatId: string, signal: AbortSignal): Promise<void>
}

export function createEncodingFormatStore(db: Db, enqueue: Enqueue): EncodingFormatStore {
  return {
    async findOfMedia(mediaId, signal) {
      signal.throwIfAborted()
      return readMediaFormats(db.query, mediaId)
    },
    addToMedia: ({ mediaId, profileId, userId }, call) =>
      withIdempotency(db, call, jsonCodec<MediaFormats & { jobId: string }>(), async (tx) => {
        const media = await lockMedia(tx, mediaId, null)
        if (!media) throw notFound('media', mediaId)
        if (media.renditions && !media.renditions.hasVideo) {
          throw new DomainError('failed_precondition', 'NO_PICTURE', 'the media is audio only and has no picture to encode')
        }
        await tx.query('insert into media_encoding_format (media_id, profile_id) values ($1, $2) on conflict do nothing', [
          mediaId,
          profileId,
        ])
        const jobId = await startRendition(tx, enqueue, media, { profileId, userId })
        const formats = await readMediaFormats(tx.query, mediaId)
        if (!formats) throw new Error(`media ${mediaId} disappeared while it was locked`)
        return { ...formats, jobId: jobId ?? '' }
      }),
    async findOfOrganisation(organisationId, signal) {
      signal.throwIfAborted()
      return readOrganisationFormats(db.query, organisationId)
    },
    addToOrganisation: (organisationId, profileId, signal) =>
      db.transaction(async (tx) => {
        await tx.query('insert into organisation_encoding_format (organisation_id, profile_id) values ($1, $2) on conflict do nothing', [
          organisationId,
          profileId,
        ])
        return readOrganisationFormats(tx.query, organisationId)
      }, signal),
    removeFromOrganisation: (organisationFormatId, signal) =>
      db.transaction(async (tx) => {
        const removed = await tx.query('delete from organisation_encoding_format where organisation_encoding_format_id = $1 returning 1', [
          organisationFormatId,
        ])
        if (removed.length === 0) throw notFound('encoding format', organisationFormatId)
      }, signal),
  }
}

/** Copies the organisation's formats to a new media. Runs in the transaction that accepts the media. */
export async function copyOrganisationFormats(
  query: Query,
  { mediaId, organisationId }: { mediaId: string; organisationId: string },
): Promise<void> {
  await query(
    `insert into media_encoding_format (media_id, profile_id)
     select $1, profile_id from organisation_encoding_format where organisation_id = $2`,
    [mediaId, organisationId],
  )
}

async function readMediaFormats(query: Query, mediaId: string): Promise<MediaFormats | undefined> {
  const [row] = await query<{ title: string; profile_ids: number[] }>(
    `select title, array(select profile_id from media_encoding_format f where f.media_id = m.media_id order by profile_id) as profile_ids
     from media m where media_id = $1`,
    [mediaId],
  )
  return row && { mediaId, title: row.title, profileIds: row.profile_ids }
}

async function readOrganisationFormats(query: Query, organisationId: string): Promise<OrganisationFormat[]> {
  const rows = await query<{ id: string; profile_id: number }>(
    `select organisation_encoding_format_id as id, profile_id from organisation_encoding_format where organisation_id = $1 order by profile_id`,
    [organisationId],
  )
  return rows.map(({ id, profile_id: profileId }) => ({ organisationFormatId: Number(id), profileId }))
}
