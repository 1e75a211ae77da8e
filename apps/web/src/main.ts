import { readPageAddress } from './page-address.ts'
import { VitascopePlayer } from './vitascope-player.ts'

customElements.define('vitascope-player', VitascopePlayer)

const { videoId, token, autoplay, muted } = readPageAddress(location.href)
const player = new VitascopePlayer()
player.videoId = videoId
player.token = token
player.autoplay = autoplay
player.muted = muted
document.body.append(player)
