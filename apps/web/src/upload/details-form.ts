import { requireElement } from '../dom/require-element.ts'
import { announce } from './announce.ts'
import { formatSaving } from './status-text.ts'
import type { UploadItem } from './upload-item.ts'
import { isVisibility } from './video-details.ts'

/** Milliseconds after the last key until the text is sent. */
const TYPING_PAUSE_MS = 800

/**
 * Connects the fields of a card with the details of its video. `onTitle` is called with each title.
 */
export function showDetails(card: HTMLElement, item: UploadItem, onTitle: () => void): void {
  const { details } = item
  const title = requireElement(card, 'input[name=title]', HTMLInputElement)
  const description = requireElement(card, 'textarea', HTMLTextAreaElement)
  const radios = [...card.querySelectorAll<HTMLInputElement>('.visibility input')]
  title.value = details.wanted.title
  description.value = details.wanted.description
  for (const radio of radios) {
    // One group per card.
    radio.name = `visibility-${cardNumber}`
    radio.checked = radio.value === details.wanted.visibility
    radio.addEventListener('change', () => isVisibility(radio.value) && details.change({ visibility: radio.value }))
  }
  cardNumber++

  let timer: number | undefined
  const sendText = () => {
    window.clearTimeout(timer)
    details.change({ title: title.value, description: description.value })
  }
  for (const field of [title, description]) {
    field.addEventListener('input', () => {
      window.clearTimeout(timer)
      timer = window.setTimeout(sendText, TYPING_PAUSE_MS)
    })
    field.addEventListener('change', sendText)
  }
  requireElement(card, '.save-again', HTMLButtonElement).addEventListener('click', () => details.retry())

  const saveState = requireElement(card, '.save-state', HTMLElement)
  const problem = requireElement(card, '.save-problem', HTMLElement)
  details.onChange = () => {
    const { state } = details
    const isNew = saveState.dataset['state'] !== state.kind
    if (isNew && state.kind === 'saved') announce(details.wanted.title, 'details saved')
    if (isNew && state.kind === 'failed') requireElement(card, 'details', HTMLDetailsElement).open = true
    saveState.textContent = formatSaving(state)
    saveState.dataset['state'] = state.kind
    problem.hidden = state.kind !== 'failed'
    requireElement(problem, '.fault', HTMLElement).textContent = state.kind === 'failed' ? state.text : ''
    item.saveResumable()
    onTitle()
  }
  details.onChange()
}

let cardNumber = 1
