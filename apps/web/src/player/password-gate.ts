import { addStyles } from '../dom/add-styles.ts'
import { focusInPlayer } from '../dom/focus-in-player.ts'
import type { TextKey } from '../language/english.ts'
import { text } from '../language/text.ts'
import { type AccessFailure, type AccessToken, requestAccess } from '../video/access-token.ts'
import styles from './password-gate.css?inline'
import type { PlayerShell } from './player-shell.ts'

/** The token for the files, and whether the viewer has entered the password for this video. */
export interface PasswordEntry {
  access: AccessToken
  wasEntered: boolean
}

/**
 * Shows a password form until the password of the video is correct. Resolves at once if the
 * last correct password fits this video, too, and with undefined if the signal aborts first.
 */
export async function requestPassword(
  shell: PlayerShell,
  videoId: string,
  title: string,
  signal: AbortSignal,
): Promise<PasswordEntry | undefined> {
  // The videos of a playlist often have the same password.
  const known = lastCorrectPassword === undefined ? 'wrong' : await requestAccess(videoId, { password: lastCorrectPassword }, signal)
  if (signal.aborted) return undefined
  if (typeof known === 'object') return { access: known, wasEntered: false }
  addStyles(shell.frame, 'password', styles)
  shell.showNotice(title || text('video'), text('passwordRequired'), { icon: 'locked' })
  const { field, button, row } = createPasswordField()
  shell.frame.querySelector('.notice .card')?.append(row)
  focusInPlayer(field)
  const aborted = new Promise<undefined>((resolve) => signal.addEventListener('abort', () => resolve(undefined), { once: true }))
  try {
    while (!signal.aborted) {
      const password = await Promise.race([waitForPassword(field, button, signal), aborted])
      if (password === undefined) return undefined
      button.disabled = true
      const result = await requestAccess(videoId, { password }, signal)
      button.disabled = false
      if (typeof result === 'object') {
        lastCorrectPassword = password
        return signal.aborted ? undefined : { access: result, wasEntered: true }
      }
      shell.showNotice(title || text('video'), text(failureTexts[result]), { icon: 'locked' })
      field.select()
      focusInPlayer(field)
    }
    return undefined
  } finally {
    row.remove()
  }
}

/** Last correct password. It stays in memory while the page is open. */
let lastCorrectPassword: string | undefined

const failureTexts: Readonly<Record<AccessFailure, TextKey>> = {
  wrong: 'passwordWrong',
  'too many attempts': 'tooManyAttempts',
  unreachable: 'serverUnreachable',
}

/**
 * Creates the field and its button without a `<form>`, because a sandboxed frame without
 * `allow-forms` must still be able to submit.
 */
function createPasswordField() {
  const row = document.createElement('div')
  row.className = 'password'
  const field = document.createElement('input')
  field.type = 'password'
  field.autocomplete = 'off'
  field.setAttribute('aria-label', text('password'))
  const button = document.createElement('button')
  button.type = 'button'
  button.textContent = text('open')
  row.append(field, button)
  return { row, field, button }
}

function waitForPassword(field: HTMLInputElement, button: HTMLButtonElement, signal: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    const submission = new AbortController()
    const submit = () => {
      if (field.value === '') return
      submission.abort()
      resolve(field.value)
    }
    const options = { signal: AbortSignal.any([signal, submission.signal]) }
    button.addEventListener('click', submit, options)
    field.addEventListener('keydown', (event) => event.key === 'Enter' && submit(), options)
  })
}
