import { z } from 'zod'

const header = (description: string, example: string) => z.string().meta({ description, example })
const resumable = header('Version of the tus protocol. It must be `1.0.0`.', '1.0.0')
const checksum = header(
  'Checksum of this body: `md5`, `sha1` or `sha256`, a space, and the checksum in Base64.',
  'sha1 Kq5sNclPz7QV2+lfQIuc6R7oRu0=',
)
const metadata = header(
  'Pairs of a name and a value in Base64, separated by commas. Names: `filename`, `title`, `visibility` and, with a system key, `organisation_id`.',
  'organisation_id MQ==,filename bGF1bmNoLm1wNA==',
)
const length = header('Size of the file in bytes.', '1048576')
const deferLength = header('`1`: the size of the file is not known yet.', '1')
const offset = header('Number of bytes that are stored durably.', '524288')
const expires = header('Time at which the upload is removed unless it continues.', 'Tue, 01 Jan 2030 09:30:00 GMT')
const videoId = header('Id of the video, after all bytes have arrived.', '42')
const jobId = header('Id of the encode job, after all bytes have arrived.', '44')

const versionHeaders = z.object({ 'Tus-Resumable': resumable })
const progressHeaders = versionHeaders.extend({
  'Upload-Offset': offset,
  'Upload-Expires': expires,
  'X-Video-Id': videoId.optional(),
  'X-Job-Id': jobId.optional(),
})
const bytes = {
  'application/offset+octet-stream': z.string().meta({ format: 'binary', description: 'Bytes of the file, from `Upload-Offset` on.' }),
}

/** Headers and bodies of tus requests for the API document. Encoding handles the requests. */
export const TUS_DOCS = {
  create: {
    requestHeaders: versionHeaders.extend({
      'Upload-Length': length.optional(),
      'Upload-Defer-Length': deferLength.optional(),
      'Upload-Metadata': metadata.optional(),
      'Upload-Checksum': checksum.optional(),
    }),
    responseHeaders: progressHeaders.extend({
      Location: header('URL of the upload.', 'https://video.example.org/v2/upload/tus/6fa1a6a4-8f5c-4f4b-9b3b-3f1f1f0d1c2b'),
    }),
    body: bytes,
  },
  read: {
    requestHeaders: versionHeaders,
    responseHeaders: progressHeaders.extend({
      'Upload-Length': length.optional(),
      'Upload-Defer-Length': deferLength.optional(),
      'Upload-Metadata': metadata.optional(),
    }),
  },
  append: {
    requestHeaders: versionHeaders.extend({
      'Upload-Offset': header('`Upload-Offset` of the last response.', '524288'),
      'Upload-Length': length.optional(),
      'Upload-Checksum': checksum.optional(),
    }),
    responseHeaders: progressHeaders,
    body: bytes,
  },
  delete: { requestHeaders: versionHeaders, responseHeaders: versionHeaders },
}

const file = z.string().meta({ format: 'binary', description: 'The file.' })

/** Bodies and headers of a file that is sent as one request, for the API document. */
export const FILE_DOCS = {
  responseHeaders: z.object({ 'X-Video-Id': videoId.optional(), 'X-Job-Id': jobId.optional() }),
  body: { 'application/octet-stream': file, 'video/*': file, 'audio/*': file },
}
