import { type FieldError, requireValid } from '@vitascope/errors'
import { checkEmail, checkText, isId } from '@vitascope/request'

/** The fields of a contact form that users set. */
export interface ContactFormFields {
  primaryText: string
  secondaryText: string
  /** Name of the form, which only its organisation sees. */
  reference: string
  optInMessage: string
  buttonText: string
  captureNames: boolean
  captureCompanyName: boolean
  captureOptIn: boolean
  /**
   * If true, players should require a submission before playback. The catalogue only stores this
   * flag and does not enforce it.
   */
  gated: boolean
}

export interface ContactForm extends ContactFormFields {
  contactFormId: string
  organisationId: string
  createdByUserId: string
  createTime: Date
}

/** Throws `invalid` with every invalid field. */
export function checkContactForm(fields: ContactFormFields): void {
  const isUnnamed = fields.primaryText.trim() === '' && fields.reference.trim() === ''
  const problems: FieldError[] = [
    ...(isUnnamed
      ? [
          { field: 'primary_text', message: 'is required if reference is empty' },
          { field: 'reference', message: 'is required if primary_text is empty' },
        ]
      : []),
    ...checkText('primary_text', fields.primaryText, { max: 1_000 }),
    ...checkText('secondary_text', fields.secondaryText, { max: 1_000 }),
    ...checkText('reference', fields.reference, { max: 255 }),
    ...checkText('opt_in_message', fields.optInMessage, { max: 1_000 }),
    ...checkText('button_text', fields.buttonText, { max: 100 }),
  ]
  requireValid(problems)
}

/** The fields that a viewer submits. */
export interface SubmissionFields {
  /** The video that showed the form. Empty if it is unknown. */
  videoId: string
  name: string
  companyName: string
  email: string
  optIn: boolean
}

export interface Submission extends SubmissionFields {
  submissionId: string
  createTime: Date
}

/**
 * Throws `invalid` with every invalid field. A captured field must not be missing, and a field that the
 * form does not capture must not be set.
 */
export function checkSubmission(form: ContactFormFields, submission: SubmissionFields): void {
  const problems = [
    ...checkCaptured('name', form.captureNames, submission.name),
    ...checkCaptured('company_name', form.captureCompanyName, submission.companyName),
    ...checkEmail('email', submission.email),
    ...(submission.optIn && !form.captureOptIn ? [notCaptured('opt_in')] : []),
    ...(submission.videoId === '' || isId(submission.videoId) ? [] : [{ field: 'video_id', message: 'must be an id, or empty for none' }]),
  ]
  requireValid(problems)
}

const notCaptured = (field: string): FieldError => ({ field, message: 'is not captured by this form' })

function checkCaptured(field: string, isCaptured: boolean, text: string): FieldError[] {
  if (!isCaptured) return text === '' ? [] : [notCaptured(field)]
  return text.trim() === '' ? [{ field, message: 'is required' }] : checkText(field, text, { max: 255 })
}
