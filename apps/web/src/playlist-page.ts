import { buildShell, type PlayerShell } from './player-shell.ts'
import { askPlaylist } from './playlist-answer.ts'
import { type PlayWishes, VitascopePlaylist } from './playlist-element.ts'

customElements.define('vitascope-playlist', VitascopePlaylist)

/** Replaces an element by the playlist with this id. Returns false if it does not exist. */
export async function showPlaylist(playlistId: string, place: Element, wishes: PlayWishes): Promise<boolean> {
  let shell: PlayerShell | undefined
  const record = await askPlaylist(playlistId, (retry) => {
    // If the replaced element is the player, it has its own shadow root.
    if (!shell && place.shadowRoot) return
    shell ??= emptyShell(place)
    shell.notice('No connection', 'The server cannot be reached. Trying again …', { retry })
  })
  if (!record) return false
  place.replaceWith(new VitascopePlaylist(record, wishes))
  return true
}

function emptyShell(place: Element): PlayerShell {
  if (place instanceof HTMLElement) place.style.height = '100%'
  return buildShell(place.attachShadow({ mode: 'open' }))
}
