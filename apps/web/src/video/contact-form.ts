import { asFlag, asObject, asText } from './json-values.ts'

/** Form that viewers submit before a video. */
export interface ContactForm {
  id: string
  heading: string
  detail: string
  consentText: string
  /** Label of the button. If empty, the player chooses one. */
  buttonText: string
  hasName: boolean
  hasCompany: boolean
  hasConsent: boolean
  /** If true, the video is played only after the form is submitted. */
  isRequired: boolean
}

export function readContactForm(json: unknown): ContactForm | undefined {
  const form = asObject(json)
  const id = asText(form['contact_form_id'])
  if (id === '') return undefined
  return {
    id,
    heading: asText(form['primary_text']),
    detail: asText(form['secondary_text']),
    consentText: asText(form['opt_in_message']),
    buttonText: asText(form['button_text']),
    hasName: asFlag(form['capture_names']),
    hasCompany: asFlag(form['capture_company_name']),
    hasConsent: asFlag(form['capture_opt_in']),
    isRequired: asFlag(form['gated']),
  }
}
