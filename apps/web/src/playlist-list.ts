import { lengthText } from './clock-text.ts'
import { withToken } from './page-address.ts'
import type { PlaylistEntry } from './playlist-record.ts'

/** The list of a playlist: a button for each entry; `choose` is told the place of the one that was pressed. */
export function buildList(
  list: HTMLElement,
  entries: readonly PlaylistEntry[],
  token: string | undefined,
  choose: (place: number) => void,
): { mark(place: number): void } {
  const buttons = entries.map((entry, place) => {
    const button = entryButton(entry, place, token)
    button.addEventListener('click', () => choose(place))
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
    mark(place) {
      for (const [index, button] of buttons.entries()) {
        if (index === place) button.setAttribute('aria-current', 'true')
        else button.removeAttribute('aria-current')
      }
      buttons[place]?.scrollIntoView({ block: 'nearest' })
    },
  }
}

function entryButton(entry: PlaylistEntry, place: number, token: string | undefined): HTMLButtonElement {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'entry'
  const note = noteOf(entry, token !== undefined)
  button.append(
    labelled('number', String(place + 1)),
    picture(entry, token),
    labelled('name', entry.title),
    ...(note === '' ? [] : [labelled('note', note)]),
  )
  return button
}

function picture(entry: PlaylistEntry, token: string | undefined): HTMLElement {
  const frame = labelled('picture', '')
  // One that the server would refuse is not asked for.
  if (entry.thumbnail !== '' && (token !== undefined || !entry.tokenRequired)) {
    const image = new Image()
    image.alt = ''
    image.loading = 'lazy'
    image.addEventListener('error', () => image.remove())
    image.src = withToken(entry.thumbnail, entry.tokenRequired ? token : undefined, location.href)
    frame.append(image)
  }
  if (entry.duration > 0) frame.append(labelled('length', lengthText(entry.duration)))
  return frame
}

function noteOf({ plays, failed, tokenRequired }: PlaylistEntry, hasToken: boolean): string {
  if (tokenRequired && !hasToken) return 'Protected'
  if (failed && !plays) return 'Cannot be shown'
  return plays ? '' : 'Being prepared'
}

function labelled(name: string, text: string): HTMLElement {
  const element = document.createElement('span')
  element.className = name
  element.textContent = text
  return element
}

/** Up and down go from entry to entry, beside the tabulator. */
function moveFocus(event: KeyboardEvent, buttons: readonly HTMLButtonElement[]): void {
  const place = event.target instanceof HTMLButtonElement ? buttons.indexOf(event.target) : -1
  const places: Record<string, number> = { ArrowUp: place - 1, ArrowDown: place + 1, Home: 0, End: buttons.length - 1 }
  const to = places[event.key]
  if (place === -1 || to === undefined) return
  // Also at the ends: the arrows of the list are not those of the video.
  event.preventDefault()
  buttons[to]?.focus()
}
