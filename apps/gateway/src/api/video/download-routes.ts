import { invalid } from '@vitascope/errors'
import type { CreateDownloadRequest } from '@vitascope/proto/catalogue/v1/download'
import { z } from 'zod'
import { type Context, route } from '../../server/route/route.ts'
import { id, idField, text } from '../../server/schema/fields.ts'
import { formatOptionalTimestamp, required, schema } from '../../server/schema/response-format.ts'
import { tokenLifetime, viewerAddress } from './token-fields.ts'

const AUDIO = 'audio'
const CAPTION = 'caption'
const ALL_CAPTIONS = 'captions'

const DownloadResponse = z.object({
  url: schema.text(
    'URL of the file. It contains a token, so it is a secret.',
    'https://video.example.org/delivery/42/k3v9~…/mp4/h264_1200.mp4',
  ),
  filename: schema.text('Name under which browsers save the file.', 'Launch day.mp4'),
  bytes: z.int().nullable().meta({ description: 'Size of the file; null if it is unknown.', example: 73_400_320 }),
  expires: schema.timestamp('Time from which the URL is rejected.'),
})

const limits = { expires_in: tokenLifetime.default(3_600), ip: viewerAddress }
const applies = 'Playback rules about the kind `download` apply. The URL stops working when the files of the video change.'

export const createDownload = route({
  post: ['/video/:videoId/download'],
  operationId: 'createDownloadUrl',
  section: 'Videos',
  access: 'user',
  resource: 'download::post',
  summary: 'Create a download URL for a file',
  description: `Returns a URL with which a browser saves an MP4 file, the sound, or captions. ${applies}`,
  status: 201,
  params: z.object({ videoId: id('video') }),
  payload: z.strictObject({
    file: text(
      100,
      { min: 1 },
      {
        description:
          'A key of `uri.http`, such as `h264_1200`; `audio` for M4A; `caption` for WebVTT; `captions` for a ZIP file of all captions.',
        example: 'h264_1200',
      },
    ),
    caption_id: idField('captions. Required if `file` is `caption`').optional(),
    ...limits,
  }),
  audited: true,
  response: DownloadResponse,
  errorCodes: { file_not_found: 'The video has no such file yet.' },
  publicNames: { expires_in_seconds: 'expires_in', address: 'ip', rendition: 'file' },
  async handle({ params, payload: { file, caption_id: captionId, expires_in, ip } }, context) {
    if ((file === CAPTION) !== (captionId !== undefined)) {
      throw invalid([{ field: 'caption_id', message: file === CAPTION ? 'is required' : 'is only for `caption`' }])
    }
    return await create({ videoId: params.videoId, file: toFile(file, captionId), expiresInSeconds: expires_in, address: ip }, context)
  },
})

export const createOriginalDownload = route({
  post: ['/video/:videoId/download/original'],
  operationId: 'createOriginalDownloadUrl',
  section: 'Videos',
  access: 'user',
  resource: 'original::post',
  summary: 'Create a download URL for the original',
  description: `Returns a URL with which a browser saves the source as it was uploaded. ${applies}`,
  status: 201,
  params: z.object({ videoId: id('video') }),
  payload: z.strictObject(limits),
  payloadOptional: true,
  audited: true,
  docs: { example: { expires_in: 3600 } },
  response: DownloadResponse,
  errorCodes: {
    file_not_found: 'The video has no files yet.',
    source_not_found: 'The platform has not kept the original (`VITASCOPE_KEEP_SOURCES`).',
  },
  publicNames: { expires_in_seconds: 'expires_in', address: 'ip' },
  handle: ({ params, payload: { expires_in, ip } }, context) =>
    create({ videoId: params.videoId, file: { $case: 'original', value: true }, expiresInSeconds: expires_in, address: ip }, context),
})

function toFile(file: string, captionId: string | undefined): CreateDownloadRequest['file'] {
  if (captionId !== undefined) return { $case: 'captionId', value: captionId }
  if (file === ALL_CAPTIONS) return { $case: 'allCaptions', value: true }
  return file === AUDIO ? { $case: 'sound', value: true } : { $case: 'rendition', value: file }
}

async function create(request: CreateDownloadRequest, { services, call, mediaUrl }: Context): Promise<z.input<typeof DownloadResponse>> {
  const download = await services.downloads.createDownload(request, call)
  const { token, deliveryVersion, file, filename, bytes, expireTime } = download
  return {
    url: `${mediaUrl}/delivery/${request.videoId}/${deliveryVersion}~${token}/download/${file}`,
    filename,
    bytes: bytes ?? null,
    expires: formatOptionalTimestamp(required(expireTime, 'time of expiry')),
  }
}

export const downloadRoutes = [createDownload, createOriginalDownload]
