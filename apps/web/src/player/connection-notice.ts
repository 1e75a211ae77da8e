import { addStyles } from '../dom/add-styles.ts'
import { text } from '../language/text.ts'
import styles from './connection-notice.css?inline'

/** Delay in milliseconds before a lost connection is shown. Shorter outages show no notice. */
const SHOW_AFTER_MS = 1_000

/**
 * Adds a notice with a retry button over the picture. Returns the function that shows it while the
 * connection is lost and hides it afterwards.
 */
export function addConnectionNotice(frame: HTMLElement, retry: () => void, signal: AbortSignal): (isLost: boolean) => void {
  addStyles(frame, 'connection-notice', styles)
  const notice = document.createElement('div')
  notice.className = 'connection'
  notice.hidden = true
  // Screen readers announce the text only if the element exists before its text.
  const words = document.createElement('span')
  words.setAttribute('role', 'status')
  const button = document.createElement('button')
  button.type = 'button'
  button.textContent = text('retry')
  button.addEventListener('click', retry)
  notice.append(words, button)
  frame.append(notice)

  let timer: number | undefined
  const setLost = (isLost: boolean) => {
    window.clearTimeout(timer)
    if (!isLost) return show(false)
    timer = window.setTimeout(() => show(true), SHOW_AFTER_MS)
  }
  const show = (isShown: boolean) => {
    notice.hidden = !isShown
    words.textContent = isShown ? text('connectionLost') : ''
    frame.dataset['connection'] = isShown ? 'lost' : 'good'
  }
  const remove = () => {
    window.clearTimeout(timer)
    notice.remove()
    delete frame.dataset['connection']
  }
  signal.addEventListener('abort', remove, { once: true })
  return setLost
}
