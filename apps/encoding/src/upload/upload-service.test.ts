import { expect, test } from '@jest/globals'
import { createUploadService, uploadLocation } from './upload-service.ts'

type Tools = Parameters<typeof createUploadService>[0]

const bucket = { endpoint: 'https://objects.example.org', region: 'eu-central-1', bucket: 'videos', virtualHost: false }
const keys = { accessKeyId: 'me', secretAccessKey: 'secret' }
const locate = (s3: typeof bucket & (object | typeof keys) & { encryption?: { algorithm: 'AES256' } }) =>
  uploadLocation({ objects: { s3 }, maxBytes: 1_000, secret: 's'.repeat(43) })

test('forms are posted to the bucket, or to the platform if credentials expire or objects are encrypted', () => {
  expect(locate({ ...bucket, ...keys })).toMatchObject({ endpoint: 'https://objects.example.org/videos', keys })
  const embedded = locate(bucket)
  expect(embedded).toMatchObject({ endpoint: '', keys: { accessKeyId: 'vitascope' } })
  expect(locate({ ...bucket, ...keys, encryption: { algorithm: 'AES256' } })).toEqual(embedded)
  expect(embedded.keys.secretAccessKey).toMatch(/^[0-9a-f]{64}$/)
})

test('an upload that the platform received has the etag of its bytes, whatever the bucket reports', async () => {
  const upload = { uploadId: '1', organisationId: '2', object: 'uploads/2/a.mp4', filename: '', bytes: 3, etag: 'of-the-bytes' }
  const tools = {
    location: locate(bucket),
    secret: 's'.repeat(43),
    storage: { stat: async () => ({ name: upload.object, bytes: 3, modified: new Date(), etag: 'of-the-parts-2' }) },
    uploads: {
      find: async () => upload,
      recordObject: async (stored: object) => ({ ...upload, ...stored }),
      extendExpiry: async () => true,
    },
  }
  // The other tools are not used.
  const service = createUploadService(tools as unknown as Tools)
  const completion = {
    key: upload.object,
    bucket: '',
    filename: '',
    isPresentation: false,
    presentationId: '',
    organisationId: '2',
    userId: '3',
    requestId: '4',
  }
  const signal = new AbortController().signal
  expect(await service.complete({ ...completion, etag: 'of-the-bytes' }, signal)).toMatchObject({ uploadId: '1' })
  await expect(service.complete({ ...completion, etag: 'of-the-parts-2' }, signal)).rejects.toThrow('another etag')
})
