import type { Transaction } from '@vitascope/postgres'
import type { Presentation, PresentationState, Slide } from './presentation.ts'

/** SQL that selects presentations with their slides. Append a WHERE clause. */
export const SELECT_PRESENTATION = `
  select p.presentation_id, p.organisation_id, p.user_id, p.video_id, p.filename, p.title, p.description, p.state, p.progress, p.code,
    p.reason, p.seconds, p.create_time,
    coalesce((select jsonb_agg(jsonb_build_object('version', s.version, 'documentPath', s.document_path, 'slides', s.slides) order by s.job_id)
      from slide_set s where s.presentation_id = p.presentation_id), '[]') as sets
  from presentation p`

/**
 * SQL for the presentation id of a video `v`. It is empty if the organisation of the video has no such
 * presentation.
 */
export const EXISTING_PRESENTATION = `coalesce((select p.presentation_id::text from presentation p
  where p.presentation_id = nullif(v.presentation_id, '')::bigint and p.organisation_id = v.organisation_id), '')`

export interface PresentationRow {
  presentation_id: string
  organisation_id: string
  user_id: string
  video_id: string | null
  filename: string
  title: string
  description: string
  state: PresentationState['state']
  progress: number
  code: number
  reason: string
  seconds: (number | null)[]
  create_time: Date
  sets: { version: string; documentPath: string; slides: Omit<Slide, 'version' | 'seconds'>[] }[]
}

export function toPresentation(row: PresentationRow): Presentation {
  const slides = row.sets.flatMap(({ version, slides: pages }) => pages.map((page) => ({ version, ...page })))
  const [first] = row.sets
  return {
    presentationId: row.presentation_id,
    organisationId: row.organisation_id,
    userId: row.user_id,
    videoId: row.video_id ?? '',
    filename: row.filename,
    title: row.title,
    description: row.description,
    processing: { state: row.state, progress: row.progress, code: row.code, reason: row.reason },
    slides: slides.map((slide, index) => ({ ...slide, seconds: row.seconds[index] ?? undefined })),
    document: first && { version: first.version, path: first.documentPath },
    createTime: row.create_time,
  }
}

/**
 * Locks and returns a presentation. Every change to a presentation, its jobs or its slides starts
 * with this lock. Its jobs are locked afterwards.
 */
export async function lockPresentation(tx: Transaction, presentationId: string): Promise<Presentation | undefined> {
  const rows = await tx.query('select 1 from presentation where presentation_id = $1 for update', [presentationId])
  if (rows.length === 0) return undefined
  // This is a separate statement, so that it sees slides that were committed while the first one
  // waited for the lock.
  const [row] = await tx.query<PresentationRow>(`${SELECT_PRESENTATION} where p.presentation_id = $1`, [presentationId])
  return row && toPresentation(row)
}
