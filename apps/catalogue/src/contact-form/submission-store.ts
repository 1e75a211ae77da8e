import { DomainError, notFound } from '@vitascope/errors'
import type { Call } from '@vitascope/grpc'
import { type Db, jsonCodec, once } from '@vitascope/postgres'
import type { IdPlace } from '../id-page.ts'
import type { Submission, SubmissionFields } from './contact-form.ts'

/** Guests send them, so a form holds no more. */
const SUBMISSIONS_MOST = 100_000

export interface SubmissionStore {
  /** Keeps what was sent by a form of an active organisation; answers its id. Refuses with CONTACT_FORM_NOT_FOUND, CONTACT_FORM_FULL. */
  add(contactFormId: string, sent: SubmissionFields, call: Pick<Call, 'idempotency' | 'signal'>): Promise<string>
  list(contactFormId: string, place: IdPlace, signal?: AbortSignal): Promise<Submission[]>
}

export function createSubmissionStore(db: Db): SubmissionStore {
  return {
    add: (contactFormId, { videoId, name, companyName, email, optIn }, call) =>
      once(db, call, jsonCodec<string>(), async (tx) => {
        // The count locks the form: it neither overflows nor goes away under the row.
        const [form] = await tx.query<{ submissions: number }>(
          `update contact_form f set submissions = submissions + 1
           where contact_form_id = $1 and exists (select from organisation o where o.organisation_id = f.organisation_id and o.active)
           returning submissions`,
          [contactFormId],
        )
        if (!form) throw notFound('contact form', contactFormId)
        if (form.submissions > SUBMISSIONS_MOST) {
          throw new DomainError('refused', 'CONTACT_FORM_FULL', `this form holds ${SUBMISSIONS_MOST} submissions and takes no more`)
        }
        const [row] = await tx.query<{ submission_id: string }>(
          `insert into contact_form_submission (contact_form_id, video_id, name, company_name, email, opt_in)
           values ($1, $2, $3, $4, $5, $6) returning submission_id`,
          [contactFormId, videoId || null, name, companyName, email, optIn],
        )
        if (!row) throw new Error('the insert of a submission answered no row')
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
