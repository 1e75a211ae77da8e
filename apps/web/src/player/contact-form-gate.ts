import { addStyles } from '../dom/add-styles.ts'
import { focusInPlayer } from '../dom/focus-in-player.ts'
import type { TextKey } from '../language/english.ts'
import { text } from '../language/text.ts'
import type { ContactForm } from '../video/contact-form.ts'
import { asObject, asText } from '../video/json-values.ts'
import styles from './contact-form-gate.css?inline'
import type { PlayerShell } from './player-shell.ts'

/** Returns true in the console, where editors see the video without its form. Pages of other sites cannot request this. */
export function isPreview(): boolean {
  return window.frameElement?.hasAttribute('data-preview') ?? false
}

/** Result of a submission: a message for the viewer if it failed. */
type Submission = { failure: TextKey; detail?: string } | 'sent'

const KEY_PREFIX = 'vitascope-form-'

/**
 * Shows the contact form of a video until it is submitted or skipped. Resolves with false if the
 * signal aborts first. A form that this browser has submitted is not shown again.
 */
export async function requestContact(shell: PlayerShell, form: ContactForm, videoId: string, signal: AbortSignal): Promise<boolean> {
  if (wasSubmitted(form.id)) return true
  addStyles(shell.frame, 'contact-form', styles)
  shell.showNotice(form.heading || text('contactHeading'), form.detail, { icon: 'form' })
  const fields = createFields(form)
  shell.frame.querySelector('.notice .card')?.append(fields.element)
  focusInPlayer(fields.email)
  try {
    while (!signal.aborted) {
      const choice = await fields.waitForChoice(signal)
      if (choice === undefined) return false
      if (choice === 'skip') return true
      fields.setBusy(true)
      const result = await submit(form, videoId, choice, signal)
      fields.setBusy(false)
      if (result === 'sent') {
        rememberSubmission(form.id)
        return !signal.aborted
      }
      fields.showFailure(text(result.failure), result.detail ?? '')
    }
    return false
  } finally {
    fields.element.remove()
  }
}

interface Answers {
  email: string
  name: string
  company: string
  consent: boolean
}

/**
 * Creates the fields without a `<form>`, because a sandboxed frame without `allow-forms` must still
 * be able to submit.
 */
function createFields(form: ContactForm) {
  const element = document.createElement('div')
  element.className = 'contact'
  const email = createField(element, text('email'), 'email', 'email')
  const name = form.hasName ? createField(element, text('name'), 'text', 'name') : undefined
  const company = form.hasCompany ? createField(element, text('company'), 'text', 'organization') : undefined
  const consent = form.hasConsent ? createConsent(element, form.consentText) : undefined
  const failure = document.createElement('p')
  failure.className = 'failure'
  failure.setAttribute('role', 'alert')
  const buttons = document.createElement('div')
  buttons.className = 'buttons'
  const send = createButton(form.buttonText || text('watch'), 'retry')
  buttons.append(send)
  const skip = form.isRequired ? undefined : createButton(text('skip'), 'skip')
  if (skip) buttons.append(skip)
  element.append(failure, buttons)
  const readAnswers = (): Answers => ({
    email: email.value.trim(),
    name: name?.value.trim() ?? '',
    company: company?.value.trim() ?? '',
    consent: consent?.checked ?? false,
  })
  return {
    element,
    email,
    setBusy(isBusy: boolean) {
      send.disabled = isBusy
    },
    showFailure(words: string, detail: string) {
      failure.textContent = detail === '' ? words : `${words} ${detail}`
      focusInPlayer(email)
    },
    waitForChoice: (signal: AbortSignal) =>
      new Promise<Answers | 'skip' | undefined>((resolve) => {
        const choice = new AbortController()
        const settle = (result: Answers | 'skip' | undefined) => {
          choice.abort()
          resolve(result)
        }
        const submitAnswers = () => {
          const missing = [email, name, company].find((field) => field && !field.checkValidity())
          if (!missing) return settle(readAnswers())
          failure.textContent = text('fieldRequired', { field: missing.getAttribute('aria-label') ?? '' })
          focusInPlayer(missing)
        }
        const options = { signal: choice.signal }
        send.addEventListener('click', submitAnswers, options)
        skip?.addEventListener('click', () => settle('skip'), options)
        element.addEventListener(
          'keydown',
          ({ key, target }) => key === 'Enter' && target instanceof HTMLInputElement && submitAnswers(),
          options,
        )
        signal.addEventListener('abort', () => settle(undefined), options)
      }),
  }
}

function createField(parent: HTMLElement, label: string, type: string, autocomplete: AutoFill): HTMLInputElement {
  const field = document.createElement('input')
  field.type = type
  field.required = true
  field.autocomplete = autocomplete
  field.maxLength = 255
  field.placeholder = label
  field.setAttribute('aria-label', label)
  parent.append(field)
  return field
}

function createConsent(parent: HTMLElement, words: string): HTMLInputElement {
  const label = document.createElement('label')
  const box = document.createElement('input')
  box.type = 'checkbox'
  const span = document.createElement('span')
  span.dir = 'auto'
  span.textContent = words || text('consent')
  label.append(box, span)
  parent.append(label)
  return box
}

function createButton(label: string, className: string): HTMLButtonElement {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = className
  button.textContent = label
  return button
}

async function submit(form: ContactForm, videoId: string, answers: Answers, signal: AbortSignal): Promise<Submission> {
  const send = (video: { video_id?: string }) =>
    fetch(`/v2/contact-form/${encodeURIComponent(form.id)}/submission`, {
      method: 'POST',
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      body: JSON.stringify({
        ...video,
        email: answers.email,
        ...(form.hasName && { name: answers.name }),
        ...(form.hasCompany && { company_name: answers.company }),
        ...(form.hasConsent && { opt_in: answers.consent ? 1 : 0 }),
      }),
      signal: AbortSignal.any([signal, AbortSignal.timeout(10_000)]),
    })
  try {
    let response = await send({ video_id: videoId })
    // Guests cannot name a private video, which this viewer watches with a token.
    if (response.status === 404 && (await readProblem(response, 'code')) === 'video_not_found') response = await send({})
    if (response.ok) return 'sent'
    // The form was deleted after the page was loaded, so the viewer need not fill it in.
    if (response.status === 404) return 'sent'
    if (response.status === 429) return { failure: 'tooManyAttempts' }
    if (response.status >= 500) return { failure: 'serverUnreachable' }
    return { failure: 'formRejected', detail: await readProblem(response, 'detail') }
  } catch {
    return { failure: 'serverUnreachable' }
  }
}

/** Returns a field of a problem document, or an empty text. */
async function readProblem(response: Response, field: 'code' | 'detail'): Promise<string> {
  return asText(asObject(await response.json().catch(() => ({})))[field])
}

/** Returns whether this browser has submitted the form. */
export function wasSubmitted(formId: string): boolean {
  try {
    return localStorage.getItem(KEY_PREFIX + formId) !== null
  } catch {
    return false
  }
}

function rememberSubmission(formId: string): void {
  try {
    localStorage.setItem(KEY_PREFIX + formId, '1')
  } catch {
    // Without storage, the form is shown again with the next page.
  }
}
