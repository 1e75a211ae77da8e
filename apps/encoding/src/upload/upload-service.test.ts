import { expect, test } from '@jest/globals'
import { fixedMasterKeys } from '@vitascope/security'
import { createUploadService, uploadLocation } from './upload-service.ts'

type Tools = Parameters<typeof createUploadService>[0]

const bucket = { endpoint: 'https://objects.example.org', region: 'eu-central-1', bucket: 'videos', virtualHost: false }
const keys = { accessKeyId: 'me', secretAccessKey: 'secret' }
const locate = (s3: typeof bucket & (object | typeof keys) & { encryption?: { algorithm: 'AES256' } }) =>
  uploadLocation({ objects: { s3 }, maxBytes: 1_000, secrets })

const secrets = fixedMasterKeys('s'.repeat(43))

test('forms are posted to the bucket, or to the platform if credentials expire or objects are encrypted', async () => {
  const own = locate({ ...bucket, ...keys })
  expect(own.endpoint).toBe('https://objects.example.org/videos')
  expect(await own.signingKeys()).toEqual({ ...keys, region: 'eu-central-1' })
  for (const embedded of [locate(bucket), locate({ ...bucket, ...keys, encryption: { algorithm: 'AES256' } })]) {
    expect([embedded.endpoint, embedded.bucket]).toEqual(['', 'vitascope'])
    expect(await embedded.signingKeys()).toEqual(embedded.verificationKeys()[0])
    expect((await embedded.signingKeys()).secretAccessKey).toMatch(/^[0-9a-f]{64}$/)
  }
})

test('the first signing key signs, and all of them verify', async () => {
  const [old, added] = ['o'.repeat(43), 'n'.repeat(43)]
  const before = uploadLocation({ objects: { folder: '/data' }, maxBytes: 1, secrets: fixedMasterKeys(old) })
  const after = uploadLocation({ objects: { folder: '/data' }, maxBytes: 1, secrets: fixedMasterKeys(`2:${added}\n1:${old}`) })
  expect(await after.signingKeys()).not.toEqual(await before.signingKeys())
  expect(after.verificationKeys()).toEqual([await after.signingKeys(), await before.signingKeys()])
})

test('an upload that the platform received has the etag of its bytes, whatever the bucket reports', async () => {
  const upload = { uploadId: '1', organisationId: '2', object: 'uploads/2/a.mp4', filename: '', bytes: 3, etag: 'of-the-bytes' }
  const tools = {
    location: locate(bucket),
    secrets,
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
