import { pause } from '../recovery/pause.ts'
import { type PlaylistRecord, readPlaylistRecord } from './playlist-record.ts'

/** Milliseconds between requests while the server is overloaded or unreachable. */
const RETRY_DELAY_MS = 2_000

/**
 * Returns the public record of a playlist, or undefined if it does not exist. Retries while the
 * server is unavailable. Before each wait, it calls `onWaiting` with a function that ends the wait.
 */
export async function fetchPlaylist(playlistId: string, onWaiting: (retry: () => void) => void): Promise<PlaylistRecord | undefined> {
  for (;;) {
    const response = await fetchOnce(`/v2/playlist/${encodeURIComponent(playlistId)}`)
    if (response?.ok) return readPlaylistRecord(await response.json().catch(() => ({})))
    const isBusy = response === undefined || response.status === 429 || response.status >= 500
    if (!isBusy) return undefined
    const retry = new AbortController()
    onWaiting(() => retry.abort())
    await pause(RETRY_DELAY_MS, retry.signal)
  }
}

async function fetchOnce(address: string): Promise<Response | undefined> {
  try {
    return await fetch(address, { headers: { accept: 'application/json' }, cache: 'no-cache', signal: AbortSignal.timeout(10_000) })
  } catch {
    // Network error: the caller retries.
    return undefined
  }
}
