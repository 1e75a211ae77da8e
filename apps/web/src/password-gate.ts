import { addStyles } from './add-styles.ts'
import { focusInPlayer } from './focus-in-player.ts'
import styles from './password-gate.css?inline'
import type { PlayerShell } from './player-shell.ts'

type Verdict = 'correct' | 'wrong' | 'too many attempts' | 'unreachable'

/**
 * Shows a password form until the password of the video is correct. Resolves with `open` if the last correct
 * password fits this video, too, and with undefined if the signal aborts first.
 */
export async function requestPassword(
  shell: PlayerShell,
  videoId: string,
  title: string,
  signal: AbortSignal,
): Promise<'open' | 'entered' | undefined> {
  // The videos of a playlist often have the same password.
  if (lastCorrectPassword !== undefined && (await checkPassword(videoId, lastCorrectPassword, signal)) === 'correct')
    return signal.aborted ? undefined : 'open'
  addStyles(shell.frame, 'password', styles)
  shell.notice(title || 'Video', texts.first)
  const { field, button, row } = passwordField()
  shell.frame.querySelector('.notice')?.append(row)
  focusInPlayer(field)
  const aborted = new Promise<undefined>((resolve) => signal.addEventListener('abort', () => resolve(undefined), { once: true }))
  try {
    while (!signal.aborted) {
      const password = await Promise.race([waitForPassword(field, button, signal), aborted])
      if (password === undefined) return undefined
      button.disabled = true
      const verdict = await checkPassword(videoId, password, signal)
      button.disabled = false
      if (verdict === 'correct') {
        lastCorrectPassword = password
        return signal.aborted ? undefined : 'entered'
      }
      shell.notice(title || 'Video', texts[verdict])
      field.select()
      focusInPlayer(field)
    }
    return undefined
  } finally {
    row.remove()
  }
}

/** Last correct password. It is kept in memory while the page is open. */
let lastCorrectPassword: string | undefined

const texts = {
  first: 'This video requires a password.',
  wrong: 'Wrong password. Try again.',
  'too many attempts': 'Too many attempts. Wait a minute, then try again.',
  unreachable: 'The server cannot be reached. Try again.',
} as const

/** This is not a `<form>`: a sandboxed frame without `allow-forms` must still be able to submit. */
function passwordField() {
  const row = document.createElement('div')
  row.className = 'password'
  const field = document.createElement('input')
  field.type = 'password'
  field.autocomplete = 'off'
  field.setAttribute('aria-label', 'Password')
  const button = document.createElement('button')
  button.type = 'button'
  button.textContent = 'Open'
  row.append(field, button)
  return { row, field, button }
}

function waitForPassword(field: HTMLInputElement, button: HTMLButtonElement, signal: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    const once = new AbortController()
    const submit = () => {
      if (field.value === '') return
      once.abort()
      resolve(field.value)
    }
    const options = { signal: AbortSignal.any([signal, once.signal]) }
    button.addEventListener('click', submit, options)
    field.addEventListener('keydown', (event) => event.key === 'Enter' && submit(), options)
  })
}

async function checkPassword(videoId: string, password: string, signal: AbortSignal): Promise<Verdict> {
  try {
    const response = await fetch(`/v2/video/${encodeURIComponent(videoId)}/password/${encodeURIComponent(password)}`, {
      headers: { accept: 'application/json' },
      cache: 'no-store',
      signal: AbortSignal.any([signal, AbortSignal.timeout(10_000)]),
    })
    if (response.status === 429) return 'too many attempts'
    if (response.status >= 500) return 'unreachable'
    const json: unknown = await response.json()
    return response.ok && Array.isArray(json) && json[0] === true ? 'correct' : 'wrong'
  } catch {
    return 'unreachable'
  }
}
