import { everyAfterDelay } from '@vitascope/process'
import type { Logger } from '@vitascope/telemetry'

const REPORT_INTERVAL_MS = 60_000
/** The catalogue stores only the first of the events that all processes send for a video in an interval of this length. */
const EVENT_INTERVAL_MS = 600_000
/** Maximum number of videos with counts that are not reported yet. Rejected requests for further videos are not reported. */
const MAX_VIDEOS = 1_000

/**
 * When a report has this many reasons for a video, requests from further sites are counted together, without a name. So
 * it has at most 25 reasons: these 20, that of further sites, and the four that are not sites.
 */
const MAX_REASONS = 20

const VIDEO_PATH = /^\/delivery\/(\d{1,19})\//

/** The limit that rejected a request: per client address, token or video, for crawlers, or for pages of another site. */
export type ThrottleReason = 'address' | 'token' | 'video' | 'crawlers' | { site: string }

export interface ThrottleReports {
  /** Counts a request that the limit per client address rejected. URLs that are not files of videos are ignored. */
  note(url: string): void
  /** Counts a rejected request for a file of a video. */
  add(videoId: string, reason: ThrottleReason): void
  close(): void
}

/** The event of a video whose requests were rejected. */
export interface ThrottleEvent {
  /** The same for all events of a video in an interval of 10 minutes, of which the catalogue stores only the first. */
  eventId: string
  type: 'delivery.throttled'
  organisationId: string
  objectKey: string
  dataJson: string
}

export interface ThrottleTools {
  /** Returns the organisation of a video, or undefined if the video does not exist. */
  findOrganisation(videoId: string, signal: AbortSignal): Promise<string | undefined>
  addEvent(event: ThrottleEvent, signal: AbortSignal): Promise<unknown>
  log: Logger
  reportEveryMs?: number
  eventEveryMs?: number
}

/** Informs the webhooks of an organisation that requests for its videos were rejected because of limits. */
export function createThrottleReports({
  findOrganisation,
  addEvent,
  log,
  reportEveryMs = REPORT_INTERVAL_MS,
  eventEveryMs = EVENT_INTERVAL_MS,
}: ThrottleTools): ThrottleReports {
  let rejected = new Map<string, Counts>()
  /** Videos that were reported in an interval, by its number. Their later counts are reported in a later interval. */
  let reported = { interval: 0, videoIds: new Set<string>() }
  const add = (videoId: string, reason: string, count: number) => {
    const counts = rejected.get(videoId) ?? new Map<string, number>()
    if (counts.size === 0) {
      if (rejected.size >= MAX_VIDEOS) return
      rejected.set(videoId, counts)
    }
    const counted = counts.has(reason) || counts.size < MAX_REASONS ? reason : reason.replace(/^site .*/, 'site ')
    counts.set(counted, (counts.get(counted) ?? 0) + count)
  }
  const report = async (signal: AbortSignal): Promise<void> => {
    const interval = Math.floor(Date.now() / eventEveryMs)
    if (reported.interval !== interval) reported = { interval, videoIds: new Set() }
    const counts = [...rejected].filter(([videoId]) => !reported.videoIds.has(videoId))
    rejected = new Map([...rejected].filter(([videoId]) => reported.videoIds.has(videoId)))
    for (const [nth, [videoId, byReason]] of counts.entries()) {
      try {
        await reportVideo(videoId, byReason, interval, signal)
        reported.videoIds.add(videoId)
      } catch (error) {
        // The service is probably unavailable. The next report contains these counts.
        for (const [id, remaining] of counts.slice(nth)) for (const [reason, count] of remaining) add(id, reason, count)
        throw error
      }
    }
  }
  const reportVideo = async (videoId: string, counts: Counts, interval: number, signal: AbortSignal): Promise<void> => {
    const organisationId = await findOrganisation(videoId, signal)
    // The path of a request can name any video.
    if (organisationId === undefined) return
    const event: ThrottleEvent = {
      eventId: `delivery-throttled-${videoId}-${interval}`,
      type: 'delivery.throttled',
      organisationId,
      objectKey: `delivery:${videoId}`,
      dataJson: JSON.stringify({ organisation_id: organisationId, video_id: videoId, ...formatCounts(counts) }),
    }
    await addEvent(event, signal)
  }
  const stop = new AbortController()
  // `close` ends this loop. `everyAfterDelay` logs failures.
  void everyAfterDelay(report, reportEveryMs, log, stop.signal)
  return {
    note(url) {
      const videoId = VIDEO_PATH.exec(url)?.[1]
      if (videoId !== undefined) add(videoId, 'address', 1)
    },
    add: (videoId, reason) => add(videoId, typeof reason === 'string' ? reason : `site ${reason.site}`, 1),
    close: () => stop.abort(),
  }
}

/** Numbers of rejected requests by reason; `site DOMAIN` for those of a site. */
type Counts = Map<string, number>

function formatCounts(counts: Counts) {
  const reasons = [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([name, rejected_requests]) => {
      const [reason, site] = name.split(' ', 2)
      return { reason, ...(site && { site }), rejected_requests }
    })
  return { rejected_requests: reasons.reduce((sum, { rejected_requests: count }) => sum + count, 0), reasons }
}
