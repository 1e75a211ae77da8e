import { asObject, asText } from './json-values.ts'
import type { VideoResult } from './page-state.ts'
import { readVideoRecord } from './video-record.ts'

/** Requests the public record of a video, with its player settings. */
export async function fetchVideo(videoId: string, signal: AbortSignal): Promise<VideoResult> {
  try {
    const response = await fetch(`/v2/video/${encodeURIComponent(videoId)}?player_settings=true`, {
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
