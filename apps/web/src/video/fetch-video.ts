import { asObject, asText } from './json-values.ts'
import type { VideoResult } from './page-state.ts'
import { readVideoRecord } from './video-record.ts'

/** Requests the public record of a video, with its player settings. Only private videos are requested with the token. */
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
    const json: unknown = await response.json().catch(() => ({}))
    if (response.ok) return { record: readVideoRecord(json) }
    const problem = asObject(json)
    return { status: response.status, code: asText(problem['code']), detail: asText(problem['detail']) }
  } catch {
    return { unreachable: true }
  }
}
