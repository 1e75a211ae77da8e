import { readPageAddress } from './page/page-address.ts'
import { readPageFacts } from './page/page-facts.ts'
import { VitascopePlayer } from './player/vitascope-player.ts'

customElements.define('vitascope-player', VitascopePlayer)

const { videoId, token, autoplay, muted, presentation } = readPageAddress(location.href)
const { pageKind, missingResult } = readPageFacts(document)
const player = new VitascopePlayer()
player.videoId = videoId
player.token = token
player.autoplay = autoplay
player.muted = muted
player.presentation = presentation
player.knownResult = missingResult
// The playlist script is loaded for playlists only.
const showPlaylist = async (element: Element) =>
  (await import('./playlist/playlist-page.ts')).showPlaylist(videoId, element, { token, autoplay, muted })

if (pageKind === 'playlist') {
  const element = document.body.appendChild(document.createElement('div'))
  if (!(await showPlaylist(element))) element.replaceWith(player)
} else {
  // Videos and playlists share this address. If the server did not say which one it is, the page
  // requests both.
  if (pageKind === '') player.onMissing = () => showPlaylist(player)
  document.body.append(player)
}
