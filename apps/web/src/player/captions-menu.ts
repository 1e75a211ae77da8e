import { addStyles } from '../dom/add-styles.ts'
import styles from './captions-menu.css?inline'

interface Choice {
  value: number
  label: string
}

/**
 * Adds a CC button with a menu, which is visible while there are choices. Returns the function that
 * sets the choices. Enter, space and the arrow keys open the menu, the arrow keys move in it, and
 * Escape closes it.
 */
export function createCaptionsMenu(
  frame: HTMLElement,
  container: HTMLElement,
  choose: (value: number) => void,
  signal: AbortSignal,
): (choices: readonly Choice[], chosen: number) => void {
  addStyles(frame, 'captions-menu', styles)
  const { button, list } = buildElements(container)
  const findItems = () => [...list.querySelectorAll<HTMLElement>('[role=menuitemradio]')]
  const isOpen = () => !list.hidden
  const open = (focus: 'chosen' | 'last') => {
    list.hidden = false
    button.setAttribute('aria-expanded', 'true')
    const items = findItems()
    const chosen = items.find((item) => item.getAttribute('aria-checked') === 'true')
    ;(focus === 'last' ? items.at(-1) : (chosen ?? items[0]))?.focus()
  }
  const close = (shouldFocusButton: boolean) => {
    list.hidden = true
    button.setAttribute('aria-expanded', 'false')
    if (shouldFocusButton) button.focus()
  }
  const select = (item: HTMLElement) => {
    markChosen(container, button, findItems(), Number(item.dataset['value']))
    choose(Number(item.dataset['value']))
    close(true)
  }

  button.addEventListener('click', () => (isOpen() ? close(true) : open('chosen')), { signal })
  list.addEventListener('click', (event) => {
    const item = event.target instanceof Element ? event.target.closest<HTMLElement>('[role=menuitemradio]') : null
    if (item) select(item)
  })
  container.addEventListener(
    'keydown',
    (event) => {
      const isHandled = isOpen() ? onMenuKey(event, findItems(), select, close) : onButtonKey(event, open)
      // Arrow keys in the menu must not control the video.
      if (isHandled || isOpen()) event.stopPropagation()
      if (isHandled) event.preventDefault()
    },
    { signal },
  )
  // Closes the menu when the focus leaves it, by Tab or by a click elsewhere.
  container.addEventListener(
    'focusout',
    ({ relatedTarget }) => !(relatedTarget instanceof Node && container.contains(relatedTarget)) && close(false),
    {
      signal,
    },
  )

  return (choices, chosen) => {
    container.hidden = choices.length === 0
    const items = findItems()
    const isUnchanged = items.length === choices.length && items.every((item, index) => item.textContent === choices[index]?.label)
    // An open menu keeps its items unless the choices have changed.
    if (!isUnchanged) {
      close(isOpen())
      list.replaceChildren(...choices.map(createItem))
    }
    markChosen(container, button, findItems(), chosen)
  }
}

/** Builds the button and the list. They are built once per player and reused for later videos. */
function buildElements(container: HTMLElement): { button: HTMLButtonElement; list: HTMLElement } {
  const button = document.createElement('button')
  button.type = 'button'
  button.textContent = 'CC'
  button.setAttribute('aria-label', 'Captions')
  button.setAttribute('aria-haspopup', 'menu')
  button.setAttribute('aria-expanded', 'false')
  const list = document.createElement('div')
  list.setAttribute('role', 'menu')
  list.setAttribute('aria-label', 'Captions')
  list.hidden = true
  container.replaceChildren(button, list)
  return { button, list }
}

function createItem({ value, label }: Choice): HTMLElement {
  const item = document.createElement('div')
  item.setAttribute('role', 'menuitemradio')
  item.tabIndex = -1
  item.dataset['value'] = String(value)
  item.textContent = label
  return item
}

function markChosen(container: HTMLElement, button: HTMLElement, items: readonly HTMLElement[], chosen: number): void {
  container.dataset['on'] = String(chosen >= 0)
  for (const item of items) {
    const isChosen = item.dataset['value'] === String(chosen)
    item.setAttribute('aria-checked', String(isChosen))
    if (isChosen) button.title = `Captions: ${item.textContent}`
  }
}

function onButtonKey({ key }: KeyboardEvent, open: (focus: 'chosen' | 'last') => void): boolean {
  if (key !== 'ArrowDown' && key !== 'ArrowUp') return false
  open(key === 'ArrowUp' ? 'last' : 'chosen')
  return true
}

function onMenuKey(
  { key, target }: KeyboardEvent,
  items: readonly HTMLElement[],
  select: (item: HTMLElement) => void,
  close: (shouldFocusButton: boolean) => void,
): boolean {
  const focusedIndex = target instanceof HTMLElement ? items.indexOf(target) : -1
  const focusItem = (index: number) => items[(index + items.length) % items.length]?.focus()
  const keys: Record<string, (() => void) | undefined> = {
    ArrowDown: () => focusItem(focusedIndex + 1),
    ArrowUp: () => focusItem(focusedIndex === -1 ? items.length - 1 : focusedIndex - 1),
    Home: () => focusItem(0),
    End: () => focusItem(items.length - 1),
    Escape: () => close(true),
    Enter: items[focusedIndex] && (() => items[focusedIndex] && select(items[focusedIndex])),
    ' ': items[focusedIndex] && (() => items[focusedIndex] && select(items[focusedIndex])),
  }
  keys[key]?.()
  return keys[key] !== undefined
}
