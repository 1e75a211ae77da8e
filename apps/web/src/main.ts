import { setLanguage } from 'media-chrome/dist/utils/i18n.js'
import { loadLanguage, selectLanguage } from './language/languages.ts'
import { readPageAddress } from './page/page-address.ts'
import { readPageFacts } from './page/page-facts.ts'
import { readSkin } from './player/skin.ts'
import { fetchVideo } from './video/fetch-video.ts'

const address = readPageAddress(location.href)
const { videoId, token, autoplay, muted } = address
const { pageKind, missingResult } = readPageFacts(document)
// The request for the video does not wait for the scripts.
const firstResult = pageKind === 'video' ? fetchVideo(videoId, new AbortController().signal) : undefined
const { language, direction } = selectLanguage([...(address.language === undefined ? [] : [address.language]), ...navigator.languages])
// The controls read their texts when they are created, so both are loaded before.
const [hasTexts, { VitascopePlayer }] = await Promise.all([loadLanguage(language), import('./player/vitascope-player.ts')])
const shownLanguage = hasTexts ? language : 'en'
setLanguage(shownLanguage)
document.documentElement.lang = shownLanguage
document.documentElement.dir = direction
customElements.define('vitascope-player', VitascopePlayer)

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
player.firstResult = firstResult
// The playlist script is loaded for playlists only.
const showPlaylist = async (element: Element) =>
  (await import('./playlist/playlist-page.ts')).showPlaylist(videoId, element, { token, autoplay, muted, skin })

if (pageKind === 'playlist') {
  const element = main.appendChild(document.createElement('div'))
  if (!(await showPlaylist(element))) element.replaceWith(player)
} else {
  // Videos and playlists share this address. If the page does not contain which one it is, the page
  // requests both.
  if (pageKind === '') player.onMissing = () => showPlaylist(player)
  main.append(player)
}

if (window.parent !== window) {
  const { serveEmbedApi } = await import('./embed-api/serve-embed-api.ts')
  const [shown] = main.children
  // The script of playlists is not loaded for videos, so its class is not known here.
  const served = shown !== undefined && 'player' in shown && shown.player instanceof VitascopePlayer ? shown.player : player
  const control = served.createControl()
  if (control) {
    const onMessage = (listener: (message: string) => void) => {
      served.onCard = listener
    }
    serveEmbedApi(
      {
        ...{ control, onMessage, readMessage: () => served.card },
        whenFirstState: () => served.whenFirstState(),
        readSettings: () => served.readEmbedApiSettings(),
      },
      window.parent,
      new AbortController().signal,
    )
  }
}
