import { formatDuration } from '../dom/clock-text.ts'
import { text } from '../language/text.ts'
import { withToken } from '../page/page-address.ts'
import type { PlaylistEntry } from './playlist-record.ts'

/**
 * Builds the list of a playlist: one button per entry. `choose` receives the index of the pressed
 * entry.
 */
export function buildList(
  list: HTMLElement,
  entries: readonly PlaylistEntry[],
  token: string | undefined,
  choose: (index: number) => void,
): { markCurrent(index: number): void } {
  const buttons = entries.map((entry, index) => {
    const button = createEntryButton(entry, index, token)
    button.addEventListener('click', () => choose(index))
    return button
  })
  list.replaceChildren(
    ...buttons.map((button) => {
      const row = document.createElement('li')
      row.append(button)
      return row
    }),
  )
  list.addEventListener('keydown', (event) => moveFocus(event, buttons))
  return {
    markCurrent(currentIndex) {
      for (const [index, button] of buttons.entries()) {
        if (index === currentIndex) button.setAttribute('aria-current', 'true')
        else button.removeAttribute('aria-current')
      }
      const currentButton = buttons[currentIndex]
      if (currentButton) scrollWithin(list, currentButton)
    },
  }
}

/**
 * Scrolls only the list. `scrollIntoView` would also scroll the page, and the page of another site
 * that embeds the player in a frame.
 */
function scrollWithin(list: HTMLElement, entry: HTMLElement): void {
  const [listBox, entryBox] = [list.getBoundingClientRect(), entry.getBoundingClientRect()]
  if (entryBox.top < listBox.top) list.scrollTop -= listBox.top - entryBox.top
  else if (entryBox.bottom > listBox.bottom) list.scrollTop += entryBox.bottom - listBox.bottom
}

function createEntryButton(entry: PlaylistEntry, index: number, token: string | undefined): HTMLButtonElement {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'entry'
  const status = formatStatus(entry, token !== undefined)
  button.append(
    createSpan('number', String(index + 1)),
    createPicture(entry, token),
    createSpan('name', entry.title),
    ...(status === '' ? [] : [createSpan('note', status)]),
  )
  return button
}

function createPicture(entry: PlaylistEntry, token: string | undefined): HTMLElement {
  const frame = createSpan('picture', '')
  // A thumbnail that the server would reject is not requested.
  if (entry.thumbnail !== '' && (token !== undefined || !entry.tokenRequired)) {
    const image = new Image()
    image.alt = ''
    image.loading = 'lazy'
    image.addEventListener('error', () => image.remove())
    image.src = withToken(entry.thumbnail, entry.tokenRequired ? token : undefined, location.href)
    frame.append(image)
  }
  if (entry.duration > 0) frame.append(createSpan('length', formatDuration(entry.duration)))
  return frame
}

function formatStatus({ isPlayable, hasFailed, tokenRequired }: PlaylistEntry, hasToken: boolean): string {
  if (tokenRequired && !hasToken) return text('titleProtected')
  if (hasFailed && !isPlayable) return text('cannotBeShownShort')
  return isPlayable ? '' : text('beingPrepared')
}

function createSpan(name: string, words: string): HTMLElement {
  const element = document.createElement('span')
  element.className = name
  element.textContent = words
  if (name === 'name') element.dir = 'auto'
  return element
}

/** Moves the focus from entry to entry with the up and down keys, in addition to Tab. */
function moveFocus(event: KeyboardEvent, buttons: readonly HTMLButtonElement[]): void {
  const index = event.target instanceof HTMLButtonElement ? buttons.indexOf(event.target) : -1
  const targets: Record<string, number> = { ArrowUp: index - 1, ArrowDown: index + 1, Home: 0, End: buttons.length - 1 }
  const targetIndex = targets[event.key]
  if (index === -1 || targetIndex === undefined) return
  // Arrow keys in the list must not control the video, not even at the ends of the list.
  event.preventDefault()
  buttons[targetIndex]?.focus()
}
