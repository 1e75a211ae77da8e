import { VitascopePlayer } from '../player/vitascope-player.ts'
import { pause } from '../recovery/pause.ts'
import { type PageState, toPageState } from '../video/page-state.ts'
import { readVideoRecord } from '../video/video-record.ts'
import { requestApi } from './api-request.ts'
import { RequestRejected } from './problem.ts'

const POLL_INTERVAL_MS = 2_500

/**
 * Reports the state of an uploaded video until it is final. If the key may not read videos, the
 * video is requested as a guest. Throws the reason of the signal.
 */
export async function followEncoding(
  { videoId, key }: { videoId: string; key: string },
  onState: (state: PageState) => void,
  signal: AbortSignal,
): Promise<void> {
  for (let currentKey: string | undefined = key; ; ) {
    const state = await fetchState(videoId, currentKey, signal)
    if (state === undefined && currentKey !== undefined) {
      currentKey = undefined
      continue
    }
    if (state === undefined) return
    onState(state)
    if (state.kind === 'message' || (state.kind === 'playable' && !state.isEncoding)) return
    await pause(POLL_INTERVAL_MS, signal)
  }
}

/** Returns the state of the video, or undefined if the video cannot be read. */
async function fetchState(videoId: string, key: string | undefined, signal: AbortSignal): Promise<PageState | undefined> {
  try {
    const record = readVideoRecord(await requestApi({ method: 'GET', path: `/video/${videoId}`, key, signal }))
    return toPageState({ record }, true)
  } catch (error) {
    if (error instanceof RequestRejected) return undefined
    throw error
  }
}

export interface EncodingText {
  text: string
  percent?: number
  isPlayable: boolean
  isFailed?: boolean
}

/** Returns the sentence about the encoding of a video, and its percentage while it is encoded. */
export function formatEncoding(state: PageState): EncodingText {
  if (state.kind === 'message') return { text: `Uploaded, but it cannot be shown. ${state.detail}`, isPlayable: false, isFailed: true }
  const percent = Math.floor(state.record.progress)
  if (state.kind === 'encoding') return { text: 'Uploaded. The video is being prepared for all devices.', percent, isPlayable: false }
  return state.isEncoding
    ? { text: 'Uploaded. You can watch it while it is being prepared for all devices.', percent, isPlayable: true }
    : { text: 'Ready to watch.', isPlayable: true }
}

/** Returns a player of the video. */
export function createPlayer(videoId: string): HTMLElement {
  if (!customElements.get('vitascope-player')) customElements.define('vitascope-player', VitascopePlayer)
  const player = new VitascopePlayer()
  player.videoId = videoId
  player.isInPage = true
  return player
}
