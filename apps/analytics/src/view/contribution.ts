import { listCells, totalLength } from './cells.ts'
import { toDay } from './day.ts'
import type { Quality, ViewPart } from './view.ts'

/** Number of positions in reports: 0, 5, … 100 % of the video. */
export const BUCKETS = 21

/** The amounts that one view adds to the counts of its day. */
export interface Contribution {
  /** `YYYY-MM-DD` (UTC) of the first event of the view. */
  day: string
  organisationId: string
  videoId: string
  language: string
  subtitle: string
  /** The dimensions as a text. Empty if they are unknown. */
  client: string
  /** Whether playback started. Otherwise all fields below except `quality` are ignored. */
  played: boolean
  complete: boolean
  bounced: boolean
  /**
   * Distinct watched time, in millionths of the duration and in milliseconds. Both are integers, so
   * that their sums do not depend on the order.
   */
  sharePpm: number
  viewingMs: number
  /** Bit b is set if a part from 5 b % to 5 (b + 1) % was watched. Bit 20 is set if the end was reached. */
  buckets: number
  furthestBucket: number
  heat: { durationMs: number; watched: readonly number[]; rewatched: readonly number[] } | undefined
  quality: (Quality & { failed: boolean }) | undefined
}

export function toContribution(view: ViewPart): Contribution {
  const { durationMs, furthestMs, played } = view
  const viewedMs = played ? totalLength(view.watched, durationMs) : 0
  const furthestBucket = durationMs > 0 ? Math.min(Math.floor((20 * furthestMs) / durationMs), 20) : 0
  return {
    day: toDay(view.firstMs),
    organisationId: view.organisationId,
    videoId: view.videoId,
    language: view.language.text,
    subtitle: view.subtitle.text,
    client: view.client.text,
    played,
    complete: played && durationMs > 0 && 20 * furthestMs >= 19 * durationMs,
    bounced: played && 10 * furthestMs <= durationMs,
    sharePpm: durationMs > 0 ? Math.round((1e6 * viewedMs) / durationMs) : 0,
    viewingMs: Math.round(viewedMs),
    buckets: played ? view.buckets | (furthestBucket === 20 ? 1 << 20 : 0) : 0,
    furthestBucket,
    heat: played && durationMs > 0 ? { durationMs, watched: listCells(view.watched), rewatched: listCells(view.rewatched) } : undefined,
    quality: toQuality(view),
  }
}

function toQuality({ quality, failed }: ViewPart): Contribution['quality'] {
  if (!quality && !failed) return undefined
  return {
    startupMs: quality?.startupMs,
    stalls: quality?.stalls ?? 0,
    stalledMs: quality?.stalledMs ?? 0,
    switches: quality?.switches ?? 0,
    failed,
  }
}
