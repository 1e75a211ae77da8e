import { askPlaylist } from './playlist-answer.ts'
import { type PlayWishes, VitascopePlaylist } from './playlist-element.ts'

customElements.define('vitascope-playlist', VitascopePlaylist)

/** Puts the playlist of this id in the place of an element; false where there is none. */
export async function showPlaylist(playlistId: string, place: Element, wishes: PlayWishes): Promise<boolean> {
  const record = await askPlaylist(playlistId)
  if (!record) return false
  place.replaceWith(new VitascopePlaylist(record, wishes))
  return true
}
