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
    const result = await fetchOnce(`/v2/playlist/${encodeURIComponent(playlistId)}`)
    if (result && 'record' in result) return result.record
    const isBusy = result === undefined || result.status === 429 || result.status >= 500
    if (!isBusy) return undefined
    const retry = new AbortController()
    onWaiting(() => retry.abort())
    await pause(RETRY_DELAY_MS, retry.signal)
  }
}

async function fetchOnce(address: string): Promise<{ record: PlaylistRecord } | { status: number } | undefined> {
  try {
    const response = await fetch(address, {
      headers: { accept: 'application/json' },
      cache: 'no-cache',
      signal: AbortSignal.timeout(10_000),
    })
    return response.ok ? { record: readPlaylistRecord(await response.json()) } : { status: response.status }
  } catch {
    // Network error, perhaps in the middle of the body: the caller retries.
    return undefined
  }
}
