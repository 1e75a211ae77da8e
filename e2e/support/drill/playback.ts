import { createHash } from 'node:crypto'
import type { Api } from '../api.ts'
import type { VideoRecord } from '../video-steps.ts'

/** Plays a video as a viewer does: returns the hash of the first segment of its first rendition. Throws if a request fails. */
export async function playFirstSegment(api: Api, videoId: string): Promise<string> {
  const { status, body } = await api.get<VideoRecord>(`/video/${videoId}`)
  if (status !== 200) throw new Error(`GET /video/${videoId} returned ${status}`)
  const master = body.uri.hls
  const rendition = new URL(firstLine(await fetchText(master), master), master).href
  const segment = new URL(firstLine(await fetchText(rendition), rendition), rendition).href
  const bytes = Buffer.from(await (await fetchOk(segment)).arrayBuffer())
  if (bytes.length === 0) throw new Error(`${segment} is empty`)
  return createHash('sha256').update(bytes).digest('hex')
}

/** Returns the first URL of a playlist. */
function firstLine(playlist: string, url: string): string {
  const line = playlist.split('\n').find((text) => text !== '' && !text.startsWith('#'))
  if (line === undefined) throw new Error(`the playlist ${url} is empty`)
  return line
}

async function fetchText(url: string): Promise<string> {
  return (await fetchOk(url)).text()
}

async function fetchOk(url: string): Promise<Response> {
  const response = await fetch(url, { signal: AbortSignal.timeout(10_000) })
  if (!response.ok) throw new Error(`${url} returned ${response.status}`)
  return response
}
