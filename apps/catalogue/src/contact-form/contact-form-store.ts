import { notFound } from '@vitascope/errors'
import type { Call } from '@vitascope/grpc'
import { type Codec, type Db, jsonCodec, withIdempotency } from '@vitascope/postgres'
import type { Scope } from '@vitascope/principal'
import type { PagePosition } from '@vitascope/request'
import type { ContactForm, ContactFormFields } from './contact-form.ts'

export interface ContactFormKey {
  scope: Scope
  contactFormId: string
}

export interface NewContactForm extends ContactFormFields {
  organisationId: string
  userId: string
}

export interface ContactFormStore {
  find(key: ContactFormKey, signal?: AbortSignal): Promise<ContactForm | undefined>
  /** Returns the form of a video. */
  findOfVideo(videoId: string, signal?: AbortSignal): Promise<ContactForm | undefined>
  list(organisationId: string, position: PagePosition, signal?: AbortSignal): Promise<ContactForm[]>
  create(form: NewContactForm, call: Pick<Call, 'idempotency' | 'signal'>): Promise<ContactForm>
  /** Deletes the form with its submissions. Throws CONTACT_FORM_NOT_FOUND. */
  remove(key: ContactFormKey, signal?: AbortSignal): Promise<void>
}

const COLUMNS = `contact_form_id, organisation_id, primary_text, secondary_text, reference, opt_in_message, button_text, capture_names,
  capture_company_name, capture_opt_in, gated, created_by_user_id, create_time`

/** The columns of a contact form `f`. */
const FORM_COLUMNS = COLUMNS.split(',')
  .map((column) => `f.${column.trim()}`)
  .join(', ')

/**
 * SQL for the contact form id of a video `v`. It is empty if the form was deleted, because deleting a
 * form does not change its videos.
 */
export const EXISTING_CONTACT_FORM = `coalesce((select f.contact_form_id::text from contact_form f
  where f.contact_form_id = nullif(v.contact_form_id, '')::bigint and f.organisation_id = v.organisation_id), '')`

export function createContactFormStore(db: Db): ContactFormStore {
  return {
    async find({ scope, contactFormId }, signal) {
      signal?.throwIfAborted()
      const [row] = await db.query<ContactFormRow>(
        `select ${COLUMNS} from contact_form where contact_form_id = $1 and ($2::bigint is null or organisation_id = $2)`,
        [contactFormId, scope],
      )
      return row && toContactForm(row)
    },
    async findOfVideo(videoId, signal) {
      signal?.throwIfAborted()
      const [row] = await db.query<ContactFormRow>(
        `select ${FORM_COLUMNS} from video v join contact_form f
           on f.contact_form_id = nullif(v.contact_form_id, '')::bigint and f.organisation_id = v.organisation_id
         where v.video_id = $1`,
        [videoId],
      )
      return row && toContactForm(row)
    },
    async list(organisationId, { after, limit, skip }, signal) {
      signal?.throwIfAborted()
      const rows = await db.query<ContactFormRow>(
        `select ${COLUMNS} from contact_form where organisation_id = $1 and contact_form_id > $2
         order by contact_form_id limit $3 offset $4`,
        [organisationId, after, limit, skip],
      )
      return rows.map(toContactForm)
    },
    create: (form, call) =>
      withIdempotency(db, call, CODEC, async (tx) => {
        const [row] = await tx.query<ContactFormRow>(
          `insert into contact_form (organisation_id, primary_text, secondary_text, reference, opt_in_message, button_text, capture_names,
             capture_company_name, capture_opt_in, gated, created_by_user_id)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) returning ${COLUMNS}`,
          [
            form.organisationId,
            form.primaryText,
            form.secondaryText,
            form.reference,
            form.optInMessage,
            form.buttonText,
            form.captureNames,
            form.captureCompanyName,
            form.captureOptIn,
            form.gated,
            form.userId,
          ],
        )
        if (!row) throw new Error('the insert of a contact form returned no row')
        return toContactForm(row)
      }),
    async remove({ scope, contactFormId }, signal) {
      signal?.throwIfAborted()
      const rows = await db.query(
        `delete from contact_form where contact_form_id = $1 and ($2::bigint is null or organisation_id = $2) returning contact_form_id`,
        [contactFormId, scope],
      )
      if (rows.length === 0) throw notFound('contact form', contactFormId)
    },
  }
}

interface ContactFormRow {
  contact_form_id: string
  organisation_id: string
  primary_text: string
  secondary_text: string
  reference: string
  opt_in_message: string
  button_text: string
  capture_names: boolean
  capture_company_name: boolean
  capture_opt_in: boolean
  gated: boolean
  created_by_user_id: string
  create_time: Date
}

function toContactForm(row: ContactFormRow): ContactForm {
  return {
    contactFormId: row.contact_form_id,
    organisationId: row.organisation_id,
    primaryText: row.primary_text,
    secondaryText: row.secondary_text,
    reference: row.reference,
    optInMessage: row.opt_in_message,
    buttonText: row.button_text,
    captureNames: row.capture_names,
    captureCompanyName: row.capture_company_name,
    captureOptIn: row.capture_opt_in,
    gated: row.gated,
    createdByUserId: row.created_by_user_id,
    createTime: row.create_time,
  }
}

const json = jsonCodec<ContactForm>()
const CODEC: Codec<ContactForm> = {
  encode: json.encode,
  decode(bytes) {
    const form = json.decode(bytes)
    return { ...form, createTime: new Date(form.createTime) }
  },
}
