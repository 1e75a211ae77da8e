import { addStyles } from './add-styles.ts'
import { focusInPlayer } from './focus-in-player.ts'
import styles from './password-gate.css?inline'
import type { PlayerShell } from './player-shell.ts'

type Answer = 'right' | 'wrong' | 'too often' | 'no answer'

/**
 * Shows a password form until the password of the video is correct. Resolves with `open` if the last correct
 * password fits this video, too, and with undefined if the signal aborts first.
 */
export async function askPassword(
  shell: PlayerShell,
  videoId: string,
  title: string,
  signal: AbortSignal,
): Promise<'open' | 'asked' | undefined> {
  // The videos of a playlist often have the same password.
  if (lastRight !== undefined && (await checkPassword(videoId, lastRight, signal)) === 'right') return signal.aborted ? undefined : 'open'
  addStyles(shell.frame, 'password', styles)
  shell.notice(title || 'Video', texts.first)
  const { field, button, row } = passwordField()
  shell.frame.querySelector('.notice')?.append(row)
  focusInPlayer(field)
  const gone = new Promise<undefined>((resolve) => signal.addEventListener('abort', () => resolve(undefined), { once: true }))
  try {
    while (!signal.aborted) {
      const password = await Promise.race([entered(field, button, signal), gone])
      if (password === undefined) return undefined
      button.disabled = true
      const answer = await checkPassword(videoId, password, signal)
      button.disabled = false
      if (answer === 'right') {
        lastRight = password
        return signal.aborted ? undefined : 'asked'
      }
      shell.notice(title || 'Video', texts[answer])
      field.select()
      focusInPlayer(field)
    }
    return undefined
  } finally {
    row.remove()
  }
}

/** Last correct password. It is kept in memory while the page is open. */
let lastRight: string | undefined

const texts = {
  first: 'This video opens with a password.',
  wrong: 'That is not its password. Try again.',
  'too often': 'That was tried too often. Wait a minute, then try again.',
  'no answer': 'The server cannot be reached. Try again.',
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

function entered(field: HTMLInputElement, button: HTMLButtonElement, signal: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    const once = new AbortController()
    const take = () => {
      if (field.value === '') return
      once.abort()
      resolve(field.value)
    }
    const either = { signal: AbortSignal.any([signal, once.signal]) }
    button.addEventListener('click', take, either)
    field.addEventListener('keydown', (event) => event.key === 'Enter' && take(), either)
  })
}

async function checkPassword(videoId: string, password: string, signal: AbortSignal): Promise<Answer> {
  try {
    const answer = await fetch(`/v2/video/${encodeURIComponent(videoId)}/password/${encodeURIComponent(password)}`, {
      headers: { accept: 'application/json' },
      cache: 'no-store',
      signal: AbortSignal.any([signal, AbortSignal.timeout(10_000)]),
    })
    if (answer.status === 429) return 'too often'
    if (answer.status >= 500) return 'no answer'
    const json: unknown = await answer.json()
    return answer.ok && Array.isArray(json) && json[0] === true ? 'right' : 'wrong'
  } catch {
    return 'no answer'
  }
}
