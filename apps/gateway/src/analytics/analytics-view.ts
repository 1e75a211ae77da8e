import type { QualityDay, ViewerDay } from '@vitascope/proto/analytics/v1/insight'
import type { Counts, DayCounts, LanguageCounts, Period, VideoCounts, Watched } from '@vitascope/proto/analytics/v1/report'
import { z } from 'zod'
import { given, shown } from '../public-form.ts'

const STEP = 5
const BUCKETS = Array.from({ length: 100 / STEP + 1 }, (_, place) => String(place * STEP))

const day = shown.text('`YYYY-MM-DD`, UTC.', '2030-12-31')
const organisation = { organisation_id: shown.id('organisation') }
const video = { video_id: shown.id('video'), ...organisation }
const duration = { video_duration: z.number().meta({ description: 'Seconds; 0 while nothing of it plays.', example: 12.48 }) }
const counters = {
  player_loads: shown.int('Views.', 120),
  video_plays: shown.int('Views that played.', 100),
  complete_views: shown.int('Played views that reached 95 %.', 40),
  bounced_views: shown.int('Played views that never got past 10 %.', 7),
}
const period = { date_start: day, date_end: day }
const buckets = (description: string) =>
  z
    .object(Object.fromEntries(BUCKETS.map((bucket) => [bucket, z.int()])))
    .meta({ description: `${description} Keys are \`0\`, \`5\`, … \`100\`.` })
const watched = {
  average_percentage_viewed: z
    .number()
    .meta({ description: 'Mean share of distinct seconds watched, 0 to 100; 0 without plays.', example: 61.25 }),
  views_per_duration: buckets('Played views that watched any moment from there to 5 % further; `100`: reached the very end.'),
  max_percentage_viewed: buckets('Played views whose furthest point lies there.'),
}
const viewingTime = { average_viewing_time: z.number().meta({ description: 'Mean seconds watched; 0 without plays.', example: 7.64 }) }

export const LanguageRecord = z.object({
  language: shown.text('As players named it; empty for views without.', 'en'),
  ...organisation,
  ...counters,
  ...period,
})
export const ViewsRecord = z.object({ ...organisation, ...counters, ...period })
export const DayRecord = z.object({ day, ...organisation, ...counters })
export const VideoRecord = z.object({ ...video, ...duration, ...counters, ...period })
export const VideoDayRecord = z.object({ day, ...video, ...counters })
export const DurationRecord = z.object({ ...video, ...duration, ...counters, ...watched, ...period })
export const VideoListRecord = z.object({
  ...video,
  ...counters,
  ...period,
  ...z
    .object({
      ...duration,
      ...watched,
      ...viewingTime,
      description: shown.text('Of the video.'),
      language: shown.text('Of the video, not of its views.', 'en'),
      title_private: shown.text('The title of the media.'),
      title_public: shown.text('The title of the video.'),
    })
    .partial().shape,
})
export const ViewerDayRecord = z.object({ day, ...organisation, unique_viewers: shown.int('Different ones.', 80) })
export const VideoViewerDayRecord = z.object({ day, ...video, unique_viewers: shown.int('Different ones.', 80) })
export const QualityDayRecord = z.object({
  day,
  ...video,
  views: shown.int('Views that measured anything.'),
  started_views: shown.int('Views that measured how long the start took.'),
  average_startup_ms: z.number().meta({ description: 'Their mean; 0 without any.' }),
  stalled_views: shown.int('Views that stood still at least once.'),
  stalls: shown.int('How often, all views together.'),
  stalled_ms: shown.int('Milliseconds, all views together.'),
  error_views: shown.int('Views that ended with an error.'),
})

/** Whose counts: the ids that each record repeats. */
export interface OfVideo {
  video_id: string
  organisation_id: string
}
export type OfOrganisation = Pick<OfVideo, 'organisation_id'>

export function countersView(counts: Counts | undefined) {
  const { playerLoads, videoPlays, completeViews, bouncedViews } = given(counts, 'counts')
  return { player_loads: playerLoads, video_plays: videoPlays, complete_views: completeViews, bounced_views: bouncedViews }
}

export function periodView({ dateStart, dateEnd }: Period) {
  return { date_start: dateStart, date_end: dateEnd }
}

export function watchedView(found: Watched | undefined) {
  const { averagePercentageViewed, averageViewingTime, viewsPerDuration, maxPercentageViewed } = given(found, 'watched')
  return {
    average_percentage_viewed: averagePercentageViewed,
    average_viewing_time: averageViewingTime,
    max_percentage_viewed: bucketsView(maxPercentageViewed),
    views_per_duration: bucketsView(viewsPerDuration),
  }
}

function bucketsView(counts: readonly number[]): Record<string, number> {
  return Object.fromEntries(BUCKETS.map((bucket, place) => [bucket, counts[place] ?? 0]))
}

export function languageView({ language, counts }: LanguageCounts, of: OfOrganisation, days: Period): z.input<typeof LanguageRecord> {
  return { language, ...of, ...countersView(counts), ...periodView(days) }
}

export function dayView<Of extends OfOrganisation>({ day, counts }: DayCounts, of: Of) {
  return { day, ...of, ...countersView(counts) }
}

export function videoListView(
  found: VideoCounts,
  of: OfOrganisation,
  { days, detailed }: { days: Period; detailed: boolean },
): z.input<typeof VideoListRecord> {
  const record = { video_id: found.videoId, ...of, ...countersView(found.counts), ...periodView(days) }
  if (!detailed) return record
  return {
    ...record,
    video_duration: found.durationSeconds,
    ...watchedView(found.watched),
    description: found.description,
    language: found.language,
    title_private: found.titlePrivate,
    title_public: found.titlePublic,
  }
}

export function viewerDayView<Of extends OfOrganisation>({ day, uniqueViewers }: ViewerDay, of: Of) {
  return { day, ...of, unique_viewers: uniqueViewers }
}

export function qualityDayView(found: QualityDay, of: OfVideo): z.input<typeof QualityDayRecord> {
  return {
    day: found.day,
    ...of,
    views: found.views,
    started_views: found.startedViews,
    average_startup_ms: found.averageStartupMs,
    stalled_views: found.stalledViews,
    stalls: found.stalls,
    stalled_ms: found.stalledMs,
    error_views: found.errorViews,
  }
}
