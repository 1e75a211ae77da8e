import { createIcon } from '../dom/icons.ts'
import { text } from '../language/text.ts'
import { ARROW_SECONDS, LETTER_SECONDS } from './player-actions.ts'

/** Creates the list of keyboard shortcuts. `toggle` opens it over the player, or closes it. */
export function createShortcutSheet(frame: HTMLElement, signal: AbortSignal): { toggle: () => void } {
  const dialog = document.createElement('dialog')
  dialog.className = 'sheet'
  dialog.setAttribute('aria-label', text('shortcuts'))
  const heading = document.createElement('h2')
  heading.textContent = text('shortcuts')
  const close = document.createElement('button')
  close.type = 'button'
  close.className = 'close'
  close.setAttribute('aria-label', text('close'))
  close.append(createIcon('close'))
  close.addEventListener('click', () => dialog.close())
  const list = document.createElement('dl')
  for (const [keys, description] of listShortcuts()) list.append(createKeys(keys), createDescription(description))
  dialog.append(close, heading, list)
  // A click outside of the contents closes it. The contents fill the padding box of the dialog.
  dialog.addEventListener('click', (event) => event.target === dialog && dialog.close())
  dialog.addEventListener('keydown', (event) => {
    if (event.key !== '?') return
    event.preventDefault()
    dialog.close()
  })
  frame.append(dialog)
  signal.addEventListener('abort', () => dialog.remove(), { once: true })
  return { toggle: () => (dialog.open ? dialog.close() : dialog.showModal()) }
}

function listShortcuts(): [keys: string[], description: string][] {
  return [
    [[text('keySpace'), 'K'], text('playOrPause')],
    [['←', '→'], text('seekSeconds', { seconds: ARROW_SECONDS })],
    [['J', 'L'], text('seekSeconds', { seconds: LETTER_SECONDS })],
    [['0 … 9'], text('seekToPart')],
    [['Home', 'End'], text('seekToEnds')],
    [['↑', '↓'], text('changeVolume')],
    [['M'], text('muteOrUnmute')],
    [['<', '>'], text('changeSpeed')],
    [['C'], text('captionsOnOff')],
    [['F'], text('fullScreenOnOff')],
    [['⇧ P', '⇧ N'], text('previousOrNext')],
    [['?'], text('showShortcuts')],
  ]
}

function createKeys(keys: readonly string[]): HTMLElement {
  const term = document.createElement('dt')
  for (const key of keys) {
    const element = document.createElement('kbd')
    element.textContent = key
    term.append(element)
  }
  return term
}

function createDescription(description: string): HTMLElement {
  const element = document.createElement('dd')
  element.textContent = description
  return element
}
