import { notFound } from '@vitascope/errors'
import type { Transaction } from '@vitascope/postgres'
import type { VideoFields } from './video-fields.ts'

type References = Pick<VideoFields, 'settingId' | 'themeId' | 'contactFormId' | 'presentationId'>

/**
 * Throws `not_found` if a video newly references a profile, theme, contact form or presentation
 * that does not exist in its organisation. Key share locks prevent their deletion until the video
 * is stored.
 */
export async function requireReferencedRecords(
  tx: Transaction,
  organisationId: string,
  fields: References,
  before?: References,
): Promise<void> {
  const { settingId, themeId, contactFormId, presentationId } = fields
  if (settingId !== '' && settingId !== before?.settingId) {
    const rows = await tx.query('select from setting where setting_id::text = $1 and organisation_id = $2 for key share', [
      settingId,
      organisationId,
    ])
    if (rows.length === 0) throw notFound('setting', settingId)
  }
  if (themeId !== '' && themeId !== before?.themeId) {
    const rows = await tx.query('select from theme where theme_id::text = $1 and organisation_id = $2 for key share', [
      themeId,
      organisationId,
    ])
    if (rows.length === 0) throw notFound('theme', themeId)
  }
  if (contactFormId !== '' && contactFormId !== before?.contactFormId) {
    const rows = await tx.query('select from contact_form where contact_form_id = $1 and organisation_id = $2 for key share', [
      contactFormId,
      organisationId,
    ])
    if (rows.length === 0) throw notFound('contact form', contactFormId)
  }
  if (presentationId !== '' && presentationId !== before?.presentationId) {
    const rows = await tx.query('select from presentation where presentation_id = $1 and organisation_id = $2 for key share', [
      presentationId,
      organisationId,
    ])
    if (rows.length === 0) throw notFound('presentation', presentationId)
  }
}
