import { readPageAddress } from './page-address.ts'
import { VitascopePlayer } from './vitascope-player.ts'

customElements.define('vitascope-player', VitascopePlayer)

const { videoId, token, autoplay, muted, presentation } = readPageAddress(location.href)
const player = new VitascopePlayer()
player.videoId = videoId
player.token = token
player.autoplay = autoplay
player.muted = muted
player.presentation = presentation
// Videos and playlists share this address; only those who open a playlist load its page.
player.whenMissing = async () => (await import('./playlist-page.ts')).showPlaylist(videoId, player, { token, autoplay, muted })
document.body.append(player)
