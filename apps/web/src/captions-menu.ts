import { addStyles } from './add-styles.ts'
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
export function captionsMenu(
  frame: HTMLElement,
  place: HTMLElement,
  choose: (value: number) => void,
  signal: AbortSignal,
): (choices: readonly Choice[], chosen: number) => void {
  addStyles(frame, 'captions-menu', styles)
  const { button, list } = build(place)
  const items = () => [...list.querySelectorAll<HTMLElement>('[role=menuitemradio]')]
  const isOpen = () => !list.hidden
  const open = (focus: 'chosen' | 'last') => {
    list.hidden = false
    button.setAttribute('aria-expanded', 'true')
    const all = items()
    const chosen = all.find((item) => item.getAttribute('aria-checked') === 'true')
    ;(focus === 'last' ? all.at(-1) : (chosen ?? all[0]))?.focus()
  }
  const close = (back: boolean) => {
    list.hidden = true
    button.setAttribute('aria-expanded', 'false')
    if (back) button.focus()
  }
  const pick = (item: HTMLElement) => {
    mark(place, button, items(), Number(item.dataset['value']))
    choose(Number(item.dataset['value']))
    close(true)
  }

  button.addEventListener('click', () => (isOpen() ? close(true) : open('chosen')), { signal })
  list.addEventListener('click', (event) => {
    const item = event.target instanceof Element ? event.target.closest<HTMLElement>('[role=menuitemradio]') : null
    if (item) pick(item)
  })
  place.addEventListener(
    'keydown',
    (event) => {
      const isHandled = isOpen() ? onMenuKey(event, items(), pick, close) : onButtonKey(event, open)
      // Arrow keys in the menu must not control the video.
      if (isHandled || isOpen()) event.stopPropagation()
      if (isHandled) event.preventDefault()
    },
    { signal },
  )
  // Closes the menu when the focus leaves it, by Tab or by a click elsewhere.
  place.addEventListener(
    'focusout',
    ({ relatedTarget }) => !(relatedTarget instanceof Node && place.contains(relatedTarget)) && close(false),
    {
      signal,
    },
  )

  return (choices, chosen) => {
    place.hidden = choices.length === 0
    const all = items()
    const isUnchanged = all.length === choices.length && all.every((item, at) => item.textContent === choices[at]?.label)
    // An open menu keeps its items unless the choices have changed.
    if (!isUnchanged) {
      close(isOpen())
      list.replaceChildren(...choices.map(itemOf))
    }
    mark(place, button, items(), chosen)
  }
}

/** Builds the elements once per player. Later videos in the same player reuse them. */
function build(place: HTMLElement): { button: HTMLButtonElement; list: HTMLElement } {
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
  place.replaceChildren(button, list)
  return { button, list }
}

function itemOf({ value, label }: Choice): HTMLElement {
  const item = document.createElement('div')
  item.setAttribute('role', 'menuitemradio')
  item.tabIndex = -1
  item.dataset['value'] = String(value)
  item.textContent = label
  return item
}

function mark(place: HTMLElement, button: HTMLElement, items: readonly HTMLElement[], chosen: number): void {
  place.dataset['on'] = String(chosen >= 0)
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
  pick: (item: HTMLElement) => void,
  close: (back: boolean) => void,
): boolean {
  const at = target instanceof HTMLElement ? items.indexOf(target) : -1
  const focusItem = (place: number) => items[(place + items.length) % items.length]?.focus()
  const keys: Record<string, (() => void) | undefined> = {
    ArrowDown: () => focusItem(at + 1),
    ArrowUp: () => focusItem(at === -1 ? items.length - 1 : at - 1),
    Home: () => focusItem(0),
    End: () => focusItem(items.length - 1),
    Escape: () => close(true),
    Enter: items[at] && (() => items[at] && pick(items[at])),
    ' ': items[at] && (() => items[at] && pick(items[at])),
  }
  keys[key]?.()
  return keys[key] !== undefined
}
