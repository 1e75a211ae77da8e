import { z } from 'zod'
import { pathPart } from '../fields.ts'
import { route } from '../route.ts'

const optionsHeaders = {
  'Tus-Resumable': '1.0.0',
  'Tus-Version': '1.0.0',
  'Tus-Extension': 'creation,creation-with-upload,creation-defer-length,checksum,expiration,termination',
  'Tus-Checksum-Algorithm': 'md5,sha1,sha256',
}
const params = z.object({
  uploadId: pathPart({ description: 'Id of the upload: a UUID.', example: '6fa1a6a4-8f5c-4f4b-9b3b-3f1f1f0d1c2b' }),
})
const passOn = ({ uploadId }: { uploadId: string }) => `/tus/${encodeURIComponent(uploadId)}`
const common = {
  section: 'Added',
  access: 'user',
  resource: 'upload::post',
  types: [],
  answer: z.object({}),
  optionsHeaders,
  handle: neverCalled,
} as const
const refusals = {
  tus_version_unknown: 'the header `Tus-Resumable` is not `1.0.0` (412)',
  upload_not_found: 'there is no such upload, or it is over',
  upload_locked: 'another request goes on with it (423)',
}

/** Of a complete one, by the catalogue: it stays so. */
const noVideo = {
  quota_bytes: 'it is complete, and its organisation has no bytes left: it becomes no video (413)',
  quota_minutes: 'it is complete, and its organisation has no minutes left this month: it becomes no video (413)',
}

export const createTusUpload = route({
  ...common,
  post: ['/upload/tus'],
  cost: 'work',
  summary: 'Begin a resumable upload (tus 1.0)',
  description: `Any tus client does it: creation (with the first bytes, or with the length told later), checksum, expiration and termination. When all bytes are there,
a new video is made: its title is the metadata \`title\`, else \`filename\`; a system key names \`organisation_id\` in the metadata. The last answer has
\`X-Video-Id\` and \`X-Job-Id\`. An upload that does not go on is removed after a day: \`Upload-Expires\`.`,
  status: 201,
  refusals: { ...refusals, ...noVideo, upload_too_large: 'the upload is larger than `max_bytes` of `GET /upload/config` (413)' },
  passOn: () => '/tus',
})

export const readTusUpload = route({
  ...common,
  head: ['/upload/tus/:uploadId'],
  summary: 'Ask how much of a resumable upload is there',
  description:
    '`Upload-Offset` is what is durable; once the upload is complete, `X-Video-Id` names its video. One that was refused to become a video is answered as that was.',
  params,
  refusals: { ...refusals, ...noVideo },
  passOn,
})

export const appendTusUpload = route({
  ...common,
  patch: ['/upload/tus/:uploadId'],
  audited: false,
  summary: 'Go on with a resumable upload',
  description:
    'The body comes as `application/offset+octet-stream`, from `Upload-Offset` on. What came of a body that breaks off is kept, unless it has a checksum.',
  params,
  status: 204,
  refusals: {
    ...refusals,
    ...noVideo,
    offset_mismatch: 'the upload goes on somewhere else (409)',
    checksum_mismatch: 'the bytes are not those of `Upload-Checksum` (460)',
    upload_too_large: 'the upload is larger than `max_bytes` of `GET /upload/config` (413)',
  },
  passOn,
})

export const deleteTusUpload = route({
  ...common,
  delete: ['/upload/tus/:uploadId'],
  summary: 'Give up a resumable upload',
  params,
  status: 204,
  refusals: { ...refusals, upload_finished: 'it is complete, and is a video or becomes one (409)' },
  passOn,
})

export const tusRoutes = [createTusUpload, readTusUpload, appendTusUpload, deleteTusUpload]

function neverCalled(): Promise<never> {
  throw new Error('encoding takes these requests')
}
