import type { Vitascope } from '@vitascope/sdk'
import { z } from 'zod'

/** Values that are available to `run`. */
export interface ToolContext {
  vitascope: Vitascope
  organisationId: () => string
  signal: AbortSignal
}

/** Resources whose tools change data. They exist only with `--write RESOURCE`. */
export const WRITE_RESOURCES = ['video', 'caption', 'playlist', 'job'] as const
export type WriteResource = (typeof WRITE_RESOURCES)[number]

export interface Tool {
  name: string
  description: string
  /** Undefined for tools that only read. */
  writes?: WriteResource
  input: z.ZodObject
  run(args: Readonly<Record<string, unknown>>, context: ToolContext): Promise<unknown>
}

/** Infers the arguments of `run` from `input`. */
function tool<Shape extends z.ZodRawShape>(definition: {
  name: string
  description: string
  writes?: WriteResource
  input: Shape
  run(args: z.infer<z.ZodObject<Shape>>, context: ToolContext): Promise<unknown>
}): Tool {
  const input = z.strictObject(definition.input)
  return {
    ...definition,
    // TypeScript does not accept a strict object with a generic shape as a `ZodObject`.
    input: input as unknown as z.ZodObject,
    run: (args, context) => definition.run(input.parse(args) as z.infer<z.ZodObject<Shape>>, context),
  }
}

const videoId = z
  .string()
  .regex(/^\d{1,19}$/)
  .describe('Id of a video')
const playlistId = z
  .string()
  .regex(/^\d{1,19}$/)
  .describe('Id of a playlist')
const jobId = z
  .string()
  .regex(/^\d{1,19}$/)
  .describe('Id of an encode job')
const day = (text: string) =>
  z
    .string()
    .regex(/^\d{4}-\d{2}-\d{2}$/)
    .optional()
    .describe(`${text}, YYYY-MM-DD in UTC`)
const period = { date_start: day('First day'), date_end: day('Last day') }
const limit = (fallback: number, max: number) => z.int().min(1).max(max).default(fallback).describe(`Maximum number, at most ${max}`)

const toQuery = ({ date_start, date_end }: { date_start?: string | undefined; date_end?: string | undefined }) => ({
  ...(date_start !== undefined && { date_start }),
  ...(date_end !== undefined && { date_end }),
})

/** All tools. Those that write come last. */
export const TOOLS: readonly Tool[] = [
  tool({
    name: 'list_videos',
    description: 'Lists or searches videos of the organisation. `query` searches in titles, descriptions, tags and captions.',
    input: {
      query: z.string().min(1).max(200).optional(),
      tag: z.string().min(1).max(200).optional(),
      status: z.enum(['ok', 'failed', 'encoding', 'waiting for encoding']).optional(),
      limit: limit(20, 200),
    },
    async run({ query, tag, status, limit: max }, { vitascope, signal }) {
      const filters = {
        ...(query !== undefined && { q: query }),
        ...(tag !== undefined && { tag }),
        ...(status !== undefined && { status }),
      }
      const videos = await vitascope.videos.list(filters, { signal }).toArray(max)
      return videos.map(({ video_id, video_title, description, status: state, duration, tags, visibility, created_at }) => {
        return { video_id, video_title, description, status: state, duration, tags, visibility, created_at }
      })
    },
  }),
  tool({
    name: 'get_video',
    description: 'Returns a video with all its fields: texts, status, URLs, captions, chapters, rules of its settings.',
    input: { video_id: videoId },
    run: ({ video_id }, { vitascope, signal }) => vitascope.videos.get(video_id, { signal }),
  }),
  tool({
    name: 'get_job',
    description: 'Returns an encode job: state, progress, renditions, and the reason of a failure.',
    input: { job_id: jobId },
    run: ({ job_id }, { vitascope }) => vitascope.jobs.get(job_id),
  }),
  tool({
    name: 'get_captions',
    description: 'Returns captions as WebVTT text. The ids of captions are in the video.',
    input: { caption_id: z.string().regex(/^\d{1,19}$/) },
    run: ({ caption_id }, { vitascope, signal }) => vitascope.call('getCaption', { path: { id: caption_id, format: 'vtt' }, signal }),
  }),
  tool({
    name: 'list_playlists',
    description: 'Lists the playlists of the organisation.',
    input: { limit: limit(50, 500) },
    run: ({ limit: max }, { vitascope }) => vitascope.playlists.list().toArray(max),
  }),
  tool({
    name: 'get_playlist',
    description: 'Returns a playlist with its videos in their order.',
    input: { playlist_id: playlistId },
    run: ({ playlist_id }, { vitascope, signal }) => vitascope.call('getPlaylist', { path: { playlist_id }, signal }),
  }),
  tool({
    name: 'list_tags',
    description: 'Lists the tags of the organisation with the number of videos of each.',
    input: { limit: limit(200, 1_000) },
    run: ({ limit: max }, { vitascope, signal }) => vitascope.list('listTags', { signal }).toArray(max),
  }),
  tool({
    name: 'list_folders',
    description: 'Lists the folders of the organisation.',
    input: { limit: limit(100, 500) },
    run: ({ limit: max }, { vitascope, organisationId, signal }) =>
      vitascope.list('listFolders', { path: { organisation_id: organisationId() }, signal }).toArray(max),
  }),
  tool({
    name: 'get_views',
    description: 'Returns the views of the organisation in a period: loads of the player, plays, complete views.',
    input: period,
    run: (args, { vitascope, organisationId, signal }) =>
      vitascope.call('getViews', { path: { organisation_id: organisationId() }, query: toQuery(args), signal }),
  }),
  tool({
    name: 'list_views_by_day',
    description: 'Lists the views of the organisation for each day of a period.',
    input: { ...period, limit: limit(31, 366) },
    run: ({ limit: max, ...args }, { vitascope, organisationId, signal }) =>
      vitascope.list('listViewsByDay', { path: { organisation_id: organisationId() }, query: toQuery(args), signal }).toArray(max),
  }),
  tool({
    name: 'list_views_by_video',
    description: 'Lists the views of each video in a period.',
    input: { ...period, limit: limit(50, 500) },
    run: ({ limit: max, ...args }, { vitascope, organisationId, signal }) =>
      vitascope.list('listViewsByVideo', { path: { organisation_id: organisationId() }, query: toQuery(args), signal }).toArray(max),
  }),
  tool({
    name: 'get_video_views',
    description: 'Returns the views of a video in a period.',
    input: { video_id: videoId, ...period },
    run: ({ video_id, ...args }, { vitascope, organisationId, signal }) =>
      vitascope.call('getVideoViews', { path: { organisation_id: organisationId(), video_id }, query: toQuery(args), signal }),
  }),
  tool({
    name: 'get_video_heatmap',
    description: 'Returns how often each part of a video was watched and watched again.',
    input: { video_id: videoId, ...period },
    run: ({ video_id, ...args }, { vitascope, organisationId, signal }) =>
      vitascope.call('getVideoHeatmap', { path: { organisation_id: organisationId(), video_id }, query: toQuery(args), signal }),
  }),
  tool({
    name: 'list_video_quality_by_day',
    description: 'Lists the quality of the playback of a video for each day: start-up time, stalls, switches and errors.',
    input: { video_id: videoId, ...period, limit: limit(31, 366) },
    run: ({ video_id, limit: max, ...args }, { vitascope, organisationId, signal }) => {
      const path = { organisation_id: organisationId(), video_id }
      return vitascope.list('listVideoQualityByDay', { path, query: toQuery(args), signal }).toArray(max)
    },
  }),
  tool({
    name: 'get_playback_rules',
    description: 'Returns the rules that decide who may watch a video.',
    input: { video_id: videoId },
    run: ({ video_id }, { vitascope, signal }) => vitascope.call('getVideoPlaybackRules', { path: { video_id }, signal }),
  }),
  tool({
    name: 'explain_playback',
    description: 'Explains whether a viewer may load a file of a video, and which rule decides. Changes nothing.',
    input: {
      video_id: videoId,
      kind: z.enum(['page', 'manifest', 'segment', 'mp4', 'image', 'caption', 'slide', 'download']).default('manifest'),
      address: z.string().max(45).describe('IP address of the viewer'),
      referrer: z.string().max(2_000).optional().describe('URL of the page that requests the file'),
    },
    run: ({ referrer, ...args }, { vitascope, signal }) =>
      vitascope.call('explainPlaybackDecision', { payload: { ...args, ...(referrer !== undefined && { referrer }) }, signal }),
  }),
  tool({
    name: 'get_organisation',
    description: 'Returns the organisation with its quotas and its use of them.',
    input: {},
    run: (_, { vitascope, organisationId, signal }) =>
      vitascope.call('getOrganisationUsage', { path: { organisation_id: organisationId() }, signal }),
  }),
  tool({
    name: 'list_webhooks',
    description: 'Lists the webhooks of the organisation.',
    input: {},
    run: (_, { vitascope }) => vitascope.webhooks.list().toArray(20),
  }),
  tool({
    name: 'update_video',
    description: 'Changes texts, tags or the visibility of a video.',
    writes: 'video',
    input: {
      video_id: videoId,
      video_title: z.string().min(1).max(500).optional(),
      description: z.string().max(10_000).optional(),
      tags: z.array(z.string().min(1).max(200)).max(100).optional(),
      visibility: z.enum(['public', 'unlisted', 'private']).optional(),
    },
    async run({ video_id, video_title, description, tags, visibility }, { vitascope, signal }) {
      const fields = {
        ...(video_title !== undefined && { video_title }),
        ...(description !== undefined && { description }),
        ...(tags !== undefined && { tags }),
        ...(visibility !== undefined && { visibility }),
      }
      await vitascope.videos.update(video_id, fields, { signal })
      return { video_id, changed: Object.keys(fields) }
    },
  }),
  tool({
    name: 'create_video_from_url',
    description: 'Creates a video from the URL of a file, which the platform fetches.',
    writes: 'video',
    input: { url: z.url({ protocol: /^https?$/ }), title: z.string().min(1).max(500).optional() },
    run: ({ url, title }, { vitascope, signal }) =>
      vitascope.videos.upload(new URL(url), { signal, ...(title !== undefined && { title }) }),
  }),
  tool({
    name: 'create_captions',
    description: 'Adds captions in WebVTT or SRT to the media of a video.',
    writes: 'caption',
    input: {
      media_id: z.string().regex(/^\d{1,19}$/),
      title: z.string().min(1).max(200),
      language: z.string().min(2).max(35),
      format: z.enum(['vtt', 'srt']),
      content: z.string().min(1).max(1_000_000),
    },
    run: (payload, { vitascope, signal }) => vitascope.call('createCaptions', { payload, signal }),
  }),
  tool({
    name: 'add_video_to_playlist',
    description: 'Adds a video to the end of a playlist.',
    writes: 'playlist',
    input: { playlist_id: playlistId, video_id: videoId },
    run: (path, { vitascope, signal }) => vitascope.call('addVideoToPlaylist', { path, signal }),
  }),
  tool({
    name: 'retry_job',
    description: 'Encodes again after a job failed or was cancelled.',
    writes: 'job',
    input: { job_id: jobId },
    run: ({ job_id }, { vitascope }) => vitascope.jobs.retry(job_id),
  }),
]
