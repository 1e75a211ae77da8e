import type { OpenAPIRegistry } from '@asteasolutions/zod-to-openapi'
import type { EventType } from '@vitascope/proto/event-types'
import { z } from 'zod'
import { schema } from '../schema/response-format.ts'

interface EventDocs {
  /** Name below `components.schemas`, and the id of its operation in generated receivers. */
  name: string
  summary: string
  description: string
  /** Fields of `data` in addition to `organisation_id`. */
  data: z.ZodRawShape
}

const { id } = schema
const video = { video_id: id('video'), media_id: id('media') }
const job = { job_id: id('job') }

/** The events that webhooks receive. `libs/testing` compares this description with real events. */
export const WEBHOOK_EVENTS: Readonly<Record<EventType | 'webhook.test', EventDocs>> = {
  'video.created': {
    name: 'VideoCreatedEvent',
    summary: 'A video is created',
    description: 'An upload creates the first video of a media. Publishing the media again creates further ones.',
    data: video,
  },
  'video.playable': {
    name: 'VideoPlayableEvent',
    summary: 'A video can be played',
    description: 'The first files can be played, possibly while the video is still encoded. One event for each video of the media.',
    data: { ...video, ...job },
  },
  'video.ready': {
    name: 'VideoReadyEvent',
    summary: 'A video is encoded',
    description: 'The first encode of the media has succeeded. One event for each video of the media.',
    data: { ...video, ...job },
  },
  'video.failed': {
    name: 'VideoFailedEvent',
    summary: 'A job of a video has failed',
    description: 'A job has failed or was cancelled. One event for each video of the media. The videos keep the files that they have.',
    data: {
      ...video,
      ...job,
      action: z.enum(['new video', 'replace']).meta({ description: 'What the job was for.', example: 'new video' }),
      code: z.int().meta({ description: 'Code of the error, as in `GET /job/{job_id}`.', example: 4002 }),
      message: z.string().meta({ description: 'What is wrong.', example: 'the file is not a video' }),
    },
  },
  'video.deleted': {
    name: 'VideoDeletedEvent',
    summary: 'A video is deleted',
    description: 'The video was deleted alone or with its media.',
    data: video,
  },
  'media.replaced': {
    name: 'MediaReplacedEvent',
    summary: 'A new source plays',
    description: 'The files of a new source have replaced the earlier ones. One event for the media, with its first video.',
    data: { ...video, ...job },
  },
  'caption.created': {
    name: 'CaptionCreatedEvent',
    summary: 'Captions are added',
    description: 'Captions were added to a media. `video_id` is its first video.',
    data: {
      caption_id: id('caption'),
      language: z.string().meta({ description: 'Language code.', example: 'en-GB' }),
      ...video,
    },
  },
  'presentation.ready': {
    name: 'PresentationReadyEvent',
    summary: 'Slides are ready',
    description: 'A file was converted to slides. The slides may not have times yet.',
    data: {
      presentation_id: id('presentation'),
      video_id: z.string().meta({ description: 'Id of the video that the presentation accompanies, or `""`.', example: '42' }),
      ...job,
      number_of_slides: z.int().meta({ description: 'Number of all slides of the presentation.', example: 24 }),
    },
  },
  'key.expiring': {
    name: 'KeyExpiringEvent',
    summary: 'An API key expires soon',
    description: 'The key expires within 7 days. One event for each key.',
    data: {
      key: z.string().meta({ description: 'First characters of the key.', example: 'vs_a1b2c' }),
      application_name: z.string().meta({ description: 'Name of the application that uses the key.', example: 'Newsroom uploader' }),
      user_id: id('user of the key'),
      expires: z.string().meta({ description: 'Time of expiry.', example: '2030-12-31 23:59:59 GMT' }),
    },
  },
  'delivery.throttled': {
    name: 'DeliveryThrottledEvent',
    summary: 'Requests for a video are rejected',
    description: 'Requests for files of the video were rejected with 429 because of limits. At most one event in 10 minutes.',
    data: {
      video_id: video.video_id,
      rejected_requests: z.int().meta({ description: 'Number of rejected requests.', example: 120 }),
      reasons: z
        .array(
          z.object({
            reason: z.enum(['address', 'token', 'video', 'crawlers', 'site']).meta({
              description:
                'Whose limit was exceeded: that of an address, a token, the video, of crawlers, or of the pages of another site.',
              example: 'site',
            }),
            site: z.string().optional().meta({ description: 'Domain of the site.', example: 'copies.example.net' }),
            rejected_requests: z.int().meta({ description: 'Number of rejected requests.', example: 120 }),
          }),
        )
        .meta({ description: 'The requests by reason, at most 25 of them.' }),
    },
  },
  'playback_rules.changed': {
    name: 'PlaybackRulesChangedEvent',
    summary: 'Playback rules are replaced',
    description: 'The playback rules of a video or of the organisation were replaced.',
    data: {
      video_id: video.video_id.optional().meta({ description: 'Id of the video. Absent for rules of the organisation.' }),
      rules: z.int().meta({ description: 'Number of rules.', example: 2 }),
    },
  },
  'playback_key.changed': {
    name: 'PlaybackKeyChangedEvent',
    summary: 'A playback key is changed',
    description: 'A playback key was registered, changed or deleted.',
    data: {
      key_id: id('playback key'),
      name: z.string().meta({ description: 'Name of the key.', example: 'Web site' }),
      change: z.enum(['created', 'changed', 'deleted']).meta({ description: 'What happened.', example: 'created' }),
      active: z.boolean().meta({ description: 'True if tokens of the key are accepted.', example: true }),
    },
  },
  'webhook.test': {
    name: 'WebhookTestEvent',
    summary: 'A test is sent',
    description: 'Sent by `POST /webhook/{webhook_id}/test` to that webhook only. Webhooks do not subscribe to it.',
    data: { webhook_id: id('webhook') },
  },
}

const HEADERS = z.object({
  'webhook-id': z.string().meta({ description: 'Id of the event. It is the same at every attempt.', example: '5f0c…' }),
  'webhook-timestamp': z.string().meta({ description: 'Time of the attempt in seconds since 1970.', example: '1893456000' }),
  'webhook-signature': z.string().meta({
    description: 'Signatures of Standard Webhooks, version 1, separated by spaces. There is one for each active secret.',
    example: 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  }),
})

/** Adds the events to the document, below `webhooks`. */
export function registerWebhookEvents(registry: OpenAPIRegistry): void {
  for (const [type, { name, summary, description, data }] of Object.entries(WEBHOOK_EVENTS)) {
    const body = z
      .object({
        type: z.literal(type).meta({ description: 'Type of the event.' }),
        timestamp: z.iso.datetime().meta({ description: 'Time of the event in UTC.', example: '2030-01-01T09:30:00.000Z' }),
        data: z.object({ organisation_id: id('organisation'), ...data }).meta({ description: 'The records of the event.' }),
      })
      .meta({ id: name, description })
    registry.registerWebhook({
      method: 'post',
      path: type,
      operationId: `receive${name}`,
      summary,
      description: `${description} The request is signed in the format of Standard Webhooks.`,
      tags: ['Webhooks'],
      security: [],
      request: { headers: HEADERS, body: { required: true, content: { 'application/json': { schema: body } } } },
      responses: {
        '2XX': { description: 'Any status of 200 to 299 within 10 s accepts the event.' },
        default: { description: 'Any other status is a failure. The event is sent again, for 24 hours.' },
      },
    })
  }
}
