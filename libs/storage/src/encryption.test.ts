import { Readable } from 'node:stream'
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { acceptObject, startStandIn } from '../test/recording-store.ts'
import { openS3Storage } from './s3-client.ts'

const PREFIX = 'x-amz-server-side-encryption'
const SMALL = Buffer.from('a file')
/** Two parts. */
const LARGE = Buffer.alloc(17 << 20)

let store: Awaited<ReturnType<typeof startStandIn>>
beforeAll(async () => {
  store = await startStandIn(acceptObject)
})
beforeEach(() => {
  store.requests.length = 0
})
afterAll(() => store?.stop())

const open = (encryption?: Parameters<typeof openS3Storage>[0]['encryption']) =>
  openS3Storage({
    endpoint: store.url,
    region: 'us-east-1',
    bucket: 'videos',
    accessKeyId: 'me',
    secretAccessKey: 'secret',
    ...(encryption && { encryption }),
  })

/** Stores a small and a large object, the latter from a stream, and returns the requests with their headers for encryption. */
async function putBoth(storage: ReturnType<typeof open>) {
  await storage.put('media/small', SMALL, { contentType: 'text/plain' })
  await storage.put('media/large', Readable.from([LARGE]))
  return store.requests.map(({ method, query, headers }) => {
    const step = query.has('uploads') ? ' uploads' : query.has('partNumber') ? ' part' : ''
    return [`${method}${step}`, Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith(PREFIX)))]
  })
}

test('each request that creates an object has the encryption, and requests for its parts do not', async () => {
  const kms = { [PREFIX]: 'aws:kms', [`${PREFIX}-aws-kms-key-id`]: 'alias/videos' }
  expect(await putBoth(open({ algorithm: 'aws:kms', kmsKeyId: 'alias/videos' }))).toEqual([
    ['PUT', kms],
    ['POST uploads', kms],
    ['PUT part', {}],
    ['PUT part', {}],
    ['POST', {}],
  ])
  // The headers are part of the signature.
  expect(store.requests[0]?.headers.authorization).toContain(`;${PREFIX};${PREFIX}-aws-kms-key-id`)
})

test('without a key, the store chooses it', async () => {
  const requests = await putBoth(open({ algorithm: 'AES256' }))
  expect(requests.slice(0, 2).map(([, headers]) => headers)).toEqual([{ [PREFIX]: 'AES256' }, { [PREFIX]: 'AES256' }])
  store.requests.length = 0
  expect((await putBoth(open({ algorithm: 'aws:kms' })))[0]).toEqual(['PUT', { [PREFIX]: 'aws:kms' }])
})

test('requests have no encryption by default', async () => {
  expect((await putBoth(open())).map(([, headers]) => headers)).toEqual(Array(5).fill({}))
})
