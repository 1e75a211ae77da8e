import { type PlaylistRecord, readPlaylistRecord } from './playlist-record.ts'

/** Milliseconds until a server that is busy or away is asked again. */
const askAgainAfter = 2_000

/** The public record of a playlist, or undefined where there is none of this id. Waits for a server that is busy. */
export async function askPlaylist(playlistId: string): Promise<PlaylistRecord | undefined> {
  for (;;) {
    const answer = await ask(`/v2/playlist/${encodeURIComponent(playlistId)}`)
    if (answer?.ok) return readPlaylistRecord(await answer.json().catch(() => ({})))
    const isBusy = answer === undefined || answer.status === 429 || answer.status >= 500
    if (!isBusy) return undefined
    await new Promise((wake) => window.setTimeout(wake, askAgainAfter))
  }
}

async function ask(address: string): Promise<Response | undefined> {
  try {
    return await fetch(address, { headers: { accept: 'application/json' }, cache: 'no-cache', signal: AbortSignal.timeout(10_000) })
  } catch {
    // Not to be reached: asked again.
    return undefined
  }
}
