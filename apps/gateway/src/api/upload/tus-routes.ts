import { z } from 'zod'
import { route } from '../../server/route/route.ts'
import { id, pathPart } from '../../server/schema/fields.ts'
import { TUS_DOCS } from './tus-headers.ts'

export const tusOptionsHeaders = {
  'Tus-Resumable': '1.0.0',
  'Tus-Version': '1.0.0',
  'Tus-Extension': 'creation,creation-with-upload,creation-defer-length,checksum,expiration,termination',
  'Tus-Checksum-Algorithm': 'md5,sha1,sha256',
}
const params = z.object({
  uploadId: pathPart({ description: 'Id of the upload. It is a UUID.', example: '6fa1a6a4-8f5c-4f4b-9b3b-3f1f1f0d1c2b' }),
})
const proxyTo = ({ uploadId }: { uploadId: string }) => `/tus/${encodeURIComponent(uploadId)}`
const common = {
  section: 'Upload signing',
  access: 'user',
  resource: 'upload::post',
  contentTypes: [],
  response: z.object({}),
  optionsHeaders: tusOptionsHeaders,
  handle: throwUnreachable,
} as const
export const tusErrorCodes = {
  tus_version_unknown: 'The header `Tus-Resumable` is not `1.0.0` (412).',
  upload_not_found: 'The upload does not exist or has ended.',
  request_timeout: 'The body arrives at less than 8 KiB/s (408).',
  too_many_at_once: '64 uploads of the IP address are active (429).',
  upload_locked: 'Another request is using the upload (423).',
}

/** The declared bytes of an upload are reserved in the quota. */
const reservation = {
  quota_bytes: 'The `bytes` quota of the organisation is too small for the upload (413).',
  too_many_uploads: 'The organisation has the maximum number of open uploads. Retry after the time in `Retry-After` (429).',
  organisation_inactive: 'The organisation is not active (409).',
}

/** Errors of the catalogue for a complete upload. They are final. */
const noVideo = {
  quota_bytes: 'The `bytes` quota of the organisation is used up. A complete upload does not become a video (413).',
  quota_minutes:
    'The upload is complete, but the `minutes_per_month` quota of the organisation is used up. It does not become a video (413).',
}

/** Errors of uploads that reserve bytes and become a video. */
export const uploadErrorCodes = { ...noVideo, ...reservation }

/** Error of a complete upload that replaces the source of a media. It is final. */
const noMedia = { media_not_found: 'The media whose source the upload replaces has been deleted.' }

const creationErrorCodes = {
  ...tusErrorCodes,
  ...noVideo,
  ...reservation,
  checksum_mismatch: 'The bytes do not match `Upload-Checksum` (460).',
  upload_too_large: 'The upload is larger than `max_bytes` of `GET /upload/config` (413).',
}

export const createTusUpload = route({
  ...common,
  post: ['/upload/tus'],
  operationId: 'createTusUpload',
  docs: TUS_DOCS.create,
  cost: 'work',
  summary: 'Create a resumable upload (tus 1.0)',
  description: `Supports the tus extensions creation, creation-with-upload, creation-defer-length, checksum, expiration and termination. When all
bytes have arrived, the platform creates a video. Its title is the metadata value \`title\`, or else \`filename\`. The metadata value
\`visibility\` is \`public\` (the default), \`unlisted\` or \`private\`. A system key sets \`organisation_id\` in the metadata. The last
response has the headers \`X-Video-Id\` and \`X-Job-Id\`. The length of the upload is reserved from the quota of the organisation. For
an upload without a length, the bytes that have arrived are reserved. An upload is removed after a day without progress. The header
\`Upload-Expires\` contains that time.`,
  status: 201,
  errorCodes: creationErrorCodes,
  proxyTo: () => '/tus',
})

export const createReplacementUpload = route({
  ...common,
  post: ['/media/:mediaId/upload'],
  operationId: 'createReplacementUpload',
  resource: 'media::put',
  docs: TUS_DOCS.create,
  cost: 'work',
  summary: 'Create a resumable upload of a new source',
  description: `Works like \`POST /upload/tus\`, and further requests use its paths. When all bytes have arrived, the platform replaces the source of
the media, as \`PUT /media/{media_id}\` does, and creates no video. The last response has \`X-Job-Id\`, and in \`X-Video-Id\` the first
video of the media. \`title\`, \`visibility\` and \`organisation_id\` of the metadata have no effect.`,
  params: z.object({ mediaId: id('media') }),
  status: 201,
  errorCodes: { ...creationErrorCodes, media_not_found: 'The media does not exist, or it belongs to another organisation.' },
  proxyTo: ({ mediaId }) => `/tus/media/${mediaId}`,
})

export const readTusUpload = route({
  ...common,
  head: ['/upload/tus/:uploadId'],
  operationId: 'getTusUpload',
  docs: TUS_DOCS.read,
  summary: 'Read the offset of a resumable upload',
  description:
    '`Upload-Offset` is the number of bytes that are stored durably. After completion, `X-Video-Id` contains the id of the video. ' +
    'If the upload could not become a video, the response is the same error as for the last `PATCH`.',
  params,
  errorCodes: { ...tusErrorCodes, ...noVideo, ...noMedia },
  proxyTo,
})

export const appendTusUpload = route({
  ...common,
  patch: ['/upload/tus/:uploadId'],
  operationId: 'appendTusUpload',
  docs: TUS_DOCS.append,
  audited: false,
  summary: 'Append to a resumable upload',
  description:
    'Send the body as `application/offset+octet-stream`, starting at `Upload-Offset`. If the body ends early, the bytes that ' +
    'arrived are kept, unless the request has a checksum.',
  params,
  status: 204,
  errorCodes: {
    ...tusErrorCodes,
    ...reservation,
    ...noVideo,
    ...noMedia,
    offset_mismatch: '`Upload-Offset` is not the offset of the upload (409).',
    checksum_mismatch: 'The bytes do not match `Upload-Checksum` (460).',
    upload_too_large: 'The upload is larger than `max_bytes` of `GET /upload/config` (413).',
  },
  proxyTo,
})

export const deleteTusUpload = route({
  ...common,
  delete: ['/upload/tus/:uploadId'],
  operationId: 'deleteTusUpload',
  docs: TUS_DOCS.delete,
  summary: 'Delete a resumable upload',
  description: 'Removes an upload that is not complete, with its bytes.',
  params,
  status: 204,
  errorCodes: { ...tusErrorCodes, upload_finished: 'The upload is complete, and it is or becomes a video (409).' },
  proxyTo,
})

export const tusRoutes = [createTusUpload, createReplacementUpload, readTusUpload, appendTusUpload, deleteTusUpload]

function throwUnreachable(): Promise<never> {
  throw new Error('requests of this route are proxied to encoding')
}
