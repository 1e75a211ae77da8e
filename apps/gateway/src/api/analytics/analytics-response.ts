import type { MinuteCounts, QualityDay, ViewerDay } from '@vitascope/proto/analytics/v1/insight'
import type { Counts, DayCounts, DimensionCounts, LanguageCounts, Period, VideoCounts, Watched } from '@vitascope/proto/analytics/v1/report'
import { z } from 'zod'
import { formatOptionalTimestamp, required, schema } from '../../server/schema/response-format.ts'

const STEP = 5
const BUCKETS = Array.from({ length: 100 / STEP + 1 }, (_, index) => String(index * STEP))

const day = schema.text('`YYYY-MM-DD` in UTC.', '2030-12-31')
const organisation = { organisation_id: schema.id('organisation') }
const video = { video_id: schema.id('video'), ...organisation }
const duration = {
  video_duration: z.number().meta({ description: 'Duration of the video in seconds. 0 while it has no playable file.', example: 12.48 }),
}
const counters = {
  player_loads: schema.int('Number of views.', 120),
  video_plays: schema.int('Views in which the video played.', 100),
  complete_views: schema.int('Played views that reached 95 % of the video.', 40),
  bounced_views: schema.int('Played views that did not get past 10 % of the video.', 7),
}
const period = { date_start: day, date_end: day }
const buckets = (description: string) =>
  z
    .object(Object.fromEntries(BUCKETS.map((bucket) => [bucket, z.int()])))
    .meta({ description: `${description} Keys are \`0\`, \`5\`, … \`100\`.` })
const watched = {
  average_percentage_viewed: z
    .number()
    .meta({ description: 'Mean share of distinct seconds watched, from 0 to 100. 0 if there are no plays.', example: 61.25 }),
  views_per_duration: buckets(
    'Played views that watched any moment between this percentage and 5 % later. `100` counts views that reached the end.',
  ),
  max_percentage_viewed: buckets('Played views whose furthest position is in this range.'),
}
const viewingTime = {
  average_viewing_time: z.number().meta({ description: 'Mean number of seconds watched. 0 if there are no plays.', example: 7.64 }),
}

const language = { language: schema.text('Language that players reported. Empty for views without a language.', 'en') }
export const LanguageResponse = z.object({ ...language, ...organisation, ...counters, ...period })
export const VideoLanguageResponse = z.object({ ...language, ...video, ...counters, ...period })
const dimension = {
  dimension: schema.text('Name of the dimension.', 'country'),
  value: schema.text('Value of the dimension. Empty for an unknown country or referrer.', 'DE'),
}
export const DimensionResponse = z.object({ ...dimension, ...organisation, ...counters, ...period })
export const VideoDimensionResponse = z.object({ ...dimension, ...video, ...counters, ...period })
export const ViewsResponse = z.object({ ...organisation, ...counters, ...period })
const watchTime = {
  viewing_time: z.number().meta({ description: 'Distinct seconds watched in all views of the day together.', example: 764.2 }),
}
export const DayResponse = z.object({ day, ...organisation, ...counters, ...z.object(watchTime).partial().shape })
export const VideoResponse = z.object({ ...video, ...duration, ...counters, ...period })
export const VideoDayResponse = z.object({ day, ...video, ...counters, ...watchTime })
export const DurationResponse = z.object({ ...video, ...duration, ...counters, ...watched, ...period })
export const VideoListResponse = z.object({
  ...video,
  ...counters,
  ...period,
  ...z
    .object({
      ...duration,
      ...watched,
      ...viewingTime,
      description: schema.text('Description of the video.', 'The launch, from the gate to orbit.'),
      language: schema.text('Language of the video, not of its views.', 'en'),
      title_private: schema.text('Title of the media.', 'Launch day'),
      title_public: schema.text('Title of the video.', 'Launch day'),
    })
    .partial().shape,
})
export const ViewerDayResponse = z.object({ day, ...organisation, unique_viewers: schema.int('Number of distinct viewers.', 80) })
export const VideoViewerDayResponse = z.object({ day, ...video, unique_viewers: schema.int('Number of distinct viewers.', 80) })
const minute = {
  minute: schema.timestamp('Start of the minute.').meta({ example: '2030-12-31 23:59:00' }),
}
const minuteCounters = {
  player_loads: schema.int('Views whose first event arrived in this minute.', 3),
  video_plays: schema.int('Views that started to play in this minute.', 2),
  active_views: schema.int('Views of which an event arrived in this minute.', 12),
}
export const MinuteResponse = z.object({ ...minute, ...organisation, ...minuteCounters })
export const VideoMinuteResponse = z.object({ ...minute, ...video, ...minuteCounters })
const quality = {
  views: schema.int('Views that reported playback quality.'),
  started_views: schema.int('Views that reported their startup time.'),
  average_startup_ms: z.number().meta({ description: 'Mean startup time. 0 if no view reported one.' }),
  stalled_views: schema.int('Views that stalled at least once.'),
  stalls: schema.int('Number of stalls of all views together.'),
  stalled_ms: schema.int('Stalled time of all views together, in milliseconds.'),
  switches: schema.int('Number of rendition switches of all views together.'),
  error_views: schema.int('Views that ended with an error.'),
}
export const QualityDayResponse = z.object({ day, ...video, ...quality })
export const OrganisationQualityDayResponse = z.object({ day, ...organisation, ...quality })

/** Ids that each record of a report repeats. */
export interface VideoIds {
  video_id: string
  organisation_id: string
}
export type OrganisationIds = Pick<VideoIds, 'organisation_id'>

export function countersResponse(counts: Counts | undefined) {
  const { playerLoads, videoPlays, completeViews, bouncedViews } = required(counts, 'counts')
  return { player_loads: playerLoads, video_plays: videoPlays, complete_views: completeViews, bounced_views: bouncedViews }
}

export function periodResponse({ dateStart, dateEnd }: Period) {
  return { date_start: dateStart, date_end: dateEnd }
}

export function watchedResponse(statistics: Watched | undefined) {
  const { averagePercentageViewed, averageViewingTime, viewsPerDuration, maxPercentageViewed } = required(statistics, 'watched')
  return {
    average_percentage_viewed: averagePercentageViewed,
    average_viewing_time: averageViewingTime,
    max_percentage_viewed: bucketsResponse(maxPercentageViewed),
    views_per_duration: bucketsResponse(viewsPerDuration),
  }
}

function bucketsResponse(counts: readonly number[]): Record<string, number> {
  return Object.fromEntries(BUCKETS.map((bucket, index) => [bucket, counts[index] ?? 0]))
}

export function languageResponse<Ids extends OrganisationIds>({ language: code, counts }: LanguageCounts, ids: Ids, days: Period) {
  return { language: code, ...ids, ...countersResponse(counts), ...periodResponse(days) }
}

export function dimensionResponse<Ids extends OrganisationIds>(
  { value, counts }: DimensionCounts,
  ids: Ids,
  { dimension: name, period: days }: { dimension: string; period: Period },
) {
  return { dimension: name, value, ...ids, ...countersResponse(counts), ...periodResponse(days) }
}

export function dayResponse({ day, counts, viewingSeconds }: DayCounts, ids: OrganisationIds): z.input<typeof DayResponse> {
  return { day, ...ids, ...countersResponse(counts), ...(viewingSeconds !== undefined && { viewing_time: viewingSeconds }) }
}

export function videoDayResponse({ day, counts, viewingSeconds }: DayCounts, ids: VideoIds): z.input<typeof VideoDayResponse> {
  return { day, ...ids, ...countersResponse(counts), viewing_time: viewingSeconds ?? 0 }
}

export function videoListResponse(
  statistics: VideoCounts,
  ids: OrganisationIds,
  { days, detailed }: { days: Period; detailed: boolean },
): z.input<typeof VideoListResponse> {
  const record = { video_id: statistics.videoId, ...ids, ...countersResponse(statistics.counts), ...periodResponse(days) }
  if (!detailed) return record
  return {
    ...record,
    video_duration: statistics.durationSeconds,
    ...watchedResponse(statistics.watched),
    description: statistics.description,
    language: statistics.language,
    title_private: statistics.titlePrivate,
    title_public: statistics.titlePublic,
  }
}

export function viewerDayResponse<Ids extends OrganisationIds>({ day, uniqueViewers }: ViewerDay, ids: Ids) {
  return { day, ...ids, unique_viewers: uniqueViewers }
}

export function minuteResponse<Ids extends OrganisationIds>({ startTime, playerLoads, videoPlays, activeViews }: MinuteCounts, ids: Ids) {
  const counts = { player_loads: playerLoads, video_plays: videoPlays, active_views: activeViews }
  return { minute: formatOptionalTimestamp(startTime), ...ids, ...counts }
}

export function qualityDayResponse<Ids extends OrganisationIds>(statistics: QualityDay, ids: Ids) {
  return {
    day: statistics.day,
    ...ids,
    views: statistics.views,
    started_views: statistics.startedViews,
    average_startup_ms: statistics.averageStartupMs,
    stalled_views: statistics.stalledViews,
    stalls: statistics.stalls,
    stalled_ms: statistics.stalledMs,
    switches: statistics.switches,
    error_views: statistics.errorViews,
  }
}
