import { everyAfterDelay } from '@vitascope/process'
import type { Logger } from '@vitascope/telemetry'

const REPORT_EVERY_MS = 60_000
/** A video has at most one event in this time, from all processes together. */
const EVENT_EVERY_MS = 600_000
/** Videos of one report. Requests for others are not reported. */
const MAX_VIDEOS = 1_000

const VIDEO_PATH = /^\/delivery\/(\d{1,19})\//

export interface ThrottleReports {
  /** Notes a request that was rejected with 429. Requests for other paths than files of videos are ignored. */
  note(url: string): void
  close(): void
}

/** The event of a video whose requests were rejected. */
export interface ThrottleEvent {
  /** The same for all events of a video in 10 minutes. */
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
}

/** Informs the webhooks of an organisation that requests for its videos were rejected because of limits. */
export function createThrottleReports({
  findOrganisation,
  addEvent,
  log,
  reportEveryMs = REPORT_EVERY_MS,
}: ThrottleTools): ThrottleReports {
  let rejected = new Map<string, number>()
  const add = (videoId: string, count: number) => {
    const earlier = rejected.get(videoId)
    if (earlier !== undefined || rejected.size < MAX_VIDEOS) rejected.set(videoId, (earlier ?? 0) + count)
  }
  const report = async (signal: AbortSignal): Promise<void> => {
    const counts = [...rejected]
    rejected = new Map()
    for (const [nth, [videoId, count]] of counts.entries()) {
      try {
        await reportVideo(videoId, count, signal)
      } catch (error) {
        // The service is probably unavailable. The next report contains these counts.
        for (const [id, remaining] of counts.slice(nth)) add(id, remaining)
        throw error
      }
    }
  }
  const reportVideo = async (videoId: string, count: number, signal: AbortSignal): Promise<void> => {
    const organisationId = await findOrganisation(videoId, signal)
    // The path of a request can name any video.
    if (organisationId === undefined) return
    const event: ThrottleEvent = {
      eventId: `delivery-throttled-${videoId}-${Math.floor(Date.now() / EVENT_EVERY_MS)}`,
      type: 'delivery.throttled',
      organisationId,
      objectKey: `delivery:${videoId}`,
      dataJson: JSON.stringify({ organisation_id: organisationId, video_id: videoId, rejected_requests: count }),
    }
    await addEvent(event, signal)
  }
  const stop = new AbortController()
  // It ends when it is stopped, and logs failures.
  void everyAfterDelay(report, reportEveryMs, log, stop.signal)
  return {
    note(url) {
      const videoId = VIDEO_PATH.exec(url)?.[1]
      if (videoId !== undefined) add(videoId, 1)
    },
    close: () => stop.abort(),
  }
}
