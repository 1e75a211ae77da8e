import { setLanguage } from 'media-chrome/dist/utils/i18n.js'
import { loadLanguage, selectLanguage } from './language/languages.ts'
import { readPageAddress } from './page/page-address.ts'
import { readPageFacts } from './page/page-facts.ts'
import { readSkin } from './player/skin.ts'

const address = readPageAddress(location.href)
const { videoId, token, autoplay, muted } = address
const { language, direction } = selectLanguage([...(address.language === undefined ? [] : [address.language]), ...navigator.languages])
// The controls read their texts when they are created, so both are loaded before.
const [hasTexts, { VitascopePlayer }] = await Promise.all([loadLanguage(language), import('./player/vitascope-player.ts')])
const shownLanguage = hasTexts ? language : 'en'
setLanguage(shownLanguage)
document.documentElement.lang = shownLanguage
document.documentElement.dir = direction
customElements.define('vitascope-player', VitascopePlayer)

const { pageKind, missingResult } = readPageFacts(document)
const skin = readSkin(address.skin)
const main = document.body.appendChild(document.createElement('main'))
const player = new VitascopePlayer()
player.videoId = videoId
player.token = token
player.autoplay = autoplay
player.muted = muted
player.skin = skin
player.playedPart = { start: address.start, end: address.end, loop: address.loop }
player.presentation = address.presentation
player.knownResult = missingResult
// The playlist script is loaded for playlists only.
const showPlaylist = async (element: Element) =>
  (await import('./playlist/playlist-page.ts')).showPlaylist(videoId, element, { token, autoplay, muted, skin })

if (pageKind === 'playlist') {
  const element = main.appendChild(document.createElement('div'))
  if (!(await showPlaylist(element))) element.replaceWith(player)
} else {
  // Videos and playlists share this address. If the server did not say which one it is, the page
  // requests both.
  if (pageKind === '') player.onMissing = () => showPlaylist(player)
  main.append(player)
}
