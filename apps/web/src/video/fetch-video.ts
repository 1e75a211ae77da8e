import { asObject, asText } from './json-values.ts'
import type { VideoResult } from './page-state.ts'
import { readVideoRecord } from './video-record.ts'

/**
 * Requests the public record of a video, with its player settings. The first request has no token. If it
 * returns 404, the video may be private, and a second request is sent with `token`. Never throws. Returns
 * `unreachable` if a request has no complete response within 10 s, fails, or is aborted by `signal`.
 */
export async function fetchVideo(videoId: string, signal: AbortSignal, token?: string): Promise<VideoResult> {
  const result = await fetchRecord(videoId, signal, {})
  return token !== undefined && 'status' in result && result.status === 404 ? fetchRecord(videoId, signal, { token }) : result
}

async function fetchRecord(videoId: string, signal: AbortSignal, credential: { token?: string }): Promise<VideoResult> {
  const query = new URLSearchParams({ player_settings: 'true', ...credential })
  try {
    const response = await fetch(`/v2/video/${encodeURIComponent(videoId)}?${query}`, {
      headers: { accept: 'application/json' },
      cache: 'no-cache',
      signal: AbortSignal.any([signal, AbortSignal.timeout(10_000)]),
    })
    // The connection can break while the body is read.
    if (response.ok) return { record: readVideoRecord(await response.json()) }
    const problem = asObject(await response.json().catch(() => ({})))
    return { status: response.status, code: asText(problem['code']), detail: asText(problem['detail']) }
  } catch {
    return { unreachable: true }
  }
}
