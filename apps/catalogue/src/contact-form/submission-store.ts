import { notFound } from '@vitascope/errors'
import type { Call } from '@vitascope/grpc'
import { type Db, jsonCodec, withIdempotency } from '@vitascope/postgres'
import type { PagePosition } from '@vitascope/request'
import type { Submission, SubmissionFields } from './contact-form.ts'

export interface SubmissionStore {
  /** Stores a submission to a form of an active organisation and returns its id. Throws CONTACT_FORM_NOT_FOUND. */
  add(contactFormId: string, submission: SubmissionFields, call: Pick<Call, 'idempotency' | 'signal'>): Promise<string>
  list(contactFormId: string, position: PagePosition, signal?: AbortSignal): Promise<Submission[]>
  /** Deletes a submission of the form permanently. Throws SUBMISSION_NOT_FOUND. */
  remove(contactFormId: string, submissionId: string, signal?: AbortSignal): Promise<void>
}

export function createSubmissionStore(db: Db): SubmissionStore {
  return {
    add: (contactFormId, { videoId, name, companyName, email, optIn }, call) =>
      withIdempotency(db, call, jsonCodec<string>(), async (tx) => {
        // The lock prevents a concurrent deletion of the form. Submissions to one form do not block
        // each other.
        const [form] = await tx.query(
          `select 1 from contact_form f
           where contact_form_id = $1 and exists (select from organisation o where o.organisation_id = f.organisation_id and o.active)
           for key share of f`,
          [contactFormId],
        )
        if (!form) throw notFound('contact form', contactFormId)
        const [row] = await tx.query<{ submission_id: string }>(
          `insert into contact_form_submission (contact_form_id, video_id, name, company_name, email, opt_in)
           values ($1, $2, $3, $4, $5, $6) returning submission_id`,
          [contactFormId, videoId || null, name, companyName, email, optIn],
        )
        if (!row) throw new Error('the insert of a submission returned no row')
        return row.submission_id
      }),
    async list(contactFormId, { after, limit, skip }, signal) {
      signal?.throwIfAborted()
      const rows = await db.query<SubmissionRow>(
        `select submission_id, video_id, name, company_name, email, opt_in, create_time from contact_form_submission
         where contact_form_id = $1 and submission_id > $2 order by submission_id limit $3 offset $4`,
        [contactFormId, after, limit, skip],
      )
      return rows.map(toSubmission)
    },
    async remove(contactFormId, submissionId, signal) {
      signal?.throwIfAborted()
      const [removed] = await db.query(
        'delete from contact_form_submission where submission_id = $1 and contact_form_id = $2 returning submission_id',
        [submissionId, contactFormId],
      )
      if (!removed) throw notFound('submission', submissionId)
    },
  }
}

interface SubmissionRow {
  submission_id: string
  video_id: string | null
  name: string
  company_name: string
  email: string
  opt_in: boolean
  create_time: Date
}

function toSubmission(row: SubmissionRow): Submission {
  return {
    submissionId: row.submission_id,
    videoId: row.video_id ?? '',
    name: row.name,
    companyName: row.company_name,
    email: row.email,
    optIn: row.opt_in,
    createTime: row.create_time,
  }
}
