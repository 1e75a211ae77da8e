import { text } from '../language/text.ts'
import { buildShell, type PlayerShell } from '../player/player-shell.ts'
import { fetchPlaylist } from './fetch-playlist.ts'
import { type PlayParameters, VitascopePlaylist } from './playlist-element.ts'

customElements.define('vitascope-playlist', VitascopePlaylist)

/** Replaces an element by the playlist with this id. Returns false if it does not exist. */
export async function showPlaylist(playlistId: string, element: Element, parameters: PlayParameters): Promise<boolean> {
  let shell: PlayerShell | undefined
  const record = await fetchPlaylist(playlistId, (retry) => {
    // If the replaced element is the player, it has its own shadow root.
    if (!shell && element.shadowRoot) return
    shell ??= buildEmptyShell(element)
    shell.showNotice(text('noConnection'), text('serverUnreachableRetrying'), { icon: 'offline', retry })
  })
  if (!record) return false
  element.replaceWith(new VitascopePlaylist(record, parameters))
  return true
}

function buildEmptyShell(element: Element): PlayerShell {
  if (element instanceof HTMLElement) element.style.height = '100%'
  return buildShell(element.attachShadow({ mode: 'open' }))
}
