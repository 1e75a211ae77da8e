import { readPageAddress } from './page-address.ts'
import { readPageFacts } from './page-facts.ts'
import { VitascopePlayer } from './vitascope-player.ts'

customElements.define('vitascope-player', VitascopePlayer)

const { videoId, token, autoplay, muted, presentation } = readPageAddress(location.href)
const { shows, missing } = readPageFacts(document)
const player = new VitascopePlayer()
player.videoId = videoId
player.token = token
player.autoplay = autoplay
player.muted = muted
player.presentation = presentation
player.known = missing
// The playlist script is loaded for playlists only.
const showPlaylist = async (place: Element) => (await import('./playlist-page.ts')).showPlaylist(videoId, place, { token, autoplay, muted })

if (shows === 'playlist') {
  const place = document.body.appendChild(document.createElement('div'))
  if (!(await showPlaylist(place))) place.replaceWith(player)
} else {
  // Videos and playlists share this address. If the server did not say which one it is, the page
  // requests both.
  if (shows === '') player.whenMissing = () => showPlaylist(player)
  document.body.append(player)
}
