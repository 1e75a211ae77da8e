import { randomUUID } from 'node:crypto'
import type { LoadRequest } from '../load-order.ts'
import { zipfSample } from '../reads/zipf-sample.ts'

/** People who use the platform at the same time. */
export interface Audience {
  viewers: number
  editors: number
}

/** What one person does. Times in seconds. */
export const MODEL = {
  /** A viewer requests segments of this length and size, one after the other. */
  segmentSeconds: 4,
  segmentBytes: 560_000,
  /** Interval at which the player of a viewer sends the watched parts. */
  eventSeconds: 10,
  /** A viewer watches a video for this long, then opens another one. */
  videoSeconds: 180,
  /** An editor sends a request at this interval. This share of the requests changes something. */
  editSeconds: 5,
  writeShare: 0.2,
  /** Time between two uploads of an editor: a video of 6 s, small enough to encode on this machine. */
  uploadSeconds: 600,
}

/** Requests per second of each kind. */
export function computeRates({ viewers, editors }: Audience): Record<'segment' | 'event' | 'open' | 'list' | 'write' | 'upload', number> {
  const edits = editors / MODEL.editSeconds
  return {
    segment: viewers / MODEL.segmentSeconds,
    event: viewers / MODEL.eventSeconds,
    open: viewers / MODEL.videoSeconds,
    list: edits * (1 - MODEL.writeShare),
    write: edits * MODEL.writeShare,
    upload: editors / MODEL.uploadSeconds,
  }
}

/** A video that is watched. */
export interface WatchedVideo {
  videoId: string
  organisationId: string
  key: string
  /** Base URL of its files. */
  files: string
  segments: readonly string[]
}

export interface Platform {
  url: string
  /** URL of the source of uploads. */
  sourceUrl: string
  videos: readonly WatchedVideo[]
}

/** Number of requests of a mix. The load generator sends them repeatedly. */
const MIX = 20_000

/** Returns requests in random order, each kind as often as the model says. */
export function buildRequests({ url, sourceUrl, videos }: Platform, audience: Audience): LoadRequest[] {
  const rates = Object.entries(computeRates(audience))
  const sum = rates.reduce((total, [, rate]) => total + rate, 0)
  const popular = zipfSample(videos, MIX)
  const views = Array.from({ length: audience.viewers }, randomUUID)
  let nth = 0
  const requests = rates.flatMap(([kind, rate]) =>
    Array.from({ length: Math.max(1, Math.round((MIX * rate) / sum)) }, (): LoadRequest => {
      const video = popular[nth % popular.length]
      if (!video) throw new Error('there are no videos')
      const number = nth++
      const guest = { 'x-forwarded-for': `203.0.${number % 100}.${(number >> 7) % 250}` }
      const headers = { authorization: `Bearer ${video.key}` }
      const record = `${url}/v2/video/${video.videoId}`
      switch (kind) {
        case 'segment':
          return { kind: 'segment', method: 'GET', url: `${video.files}/${video.segments[number % video.segments.length]}`, headers: guest }
        case 'event': {
          // One of 18 events begins a new view, because a view of 180 s has an event every 10 s.
          const isFirst = number % Math.round(MODEL.videoSeconds / MODEL.eventSeconds) === 0
          const viewId = isFirst ? '{uuid}' : views[number % views.length]
          const body = `[{"video_id":"${video.videoId}","view_id":"${viewId}","type":"progress","position":6,"watched":[[0,6]],"language":"en","subtitle":"","at":{now}}]`
          const player = { ...guest, 'user-agent': 'Mozilla/5.0' }
          return { kind: 'event', method: 'POST', url: `${url}/v2/analytics/events`, headers: player, body }
        }
        case 'open':
          return { kind: 'read', method: 'GET', url: record, headers: guest }
        case 'list':
          return { kind: 'read', method: 'GET', url: number % 2 ? record : `${url}/v2/video?limit=20`, headers }
        case 'write':
          return { kind: 'write', method: 'PATCH', url: record, headers, body: '{"video_title":"title {n}"}' }
        default: {
          const body = JSON.stringify({ organisation_id: video.organisationId, url: sourceUrl, name: 'upload {n}' })
          return { kind: 'upload', method: 'POST', url: `${url}/v2/video/upload`, headers, body }
        }
      }
    }),
  )
  return shuffle(requests)
}

/** Shuffles in place, so that each part has the same mix as all requests. */
export function shuffle<T>(items: T[]): T[] {
  for (let nth = items.length - 1; nth > 0; nth--) {
    const other = Math.floor(Math.random() * (nth + 1))
    const [one, two] = [items[nth] as T, items[other] as T]
    items[nth] = two
    items[other] = one
  }
  return items
}
