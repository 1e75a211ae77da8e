import { expect, test } from '@jest/globals'
import { createUrlSigner } from './presigned-url.ts'

const keys = { region: 'us-east-1', accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' }
const request = {
  method: 'GET',
  name: 'test.txt',
  now: new Date('2013-05-24T00:00:00.999Z'),
  seconds: 86_400,
  responseHeaders: {},
} as const

test('a presigned URL contains the time, the lifetime and the response headers, and its signature is deterministic', async () => {
  const sign = createUrlSigner({ ...keys, endpoint: 'https://s3.amazonaws.com', bucket: 'examplebucket', virtualHost: true })
  const responseHeaders = { 'response-content-type': "text/plain; a='b c'" }
  const url = await sign({ ...request, responseHeaders })
  expect(url.split('?')[0]).toBe('https://examplebucket.s3.amazonaws.com/test.txt')
  expect(url).not.toMatch(/['+ ]/)
  expect(Object.fromEntries(new URL(url).searchParams)).toEqual({
    'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
    'X-Amz-Content-Sha256': 'UNSIGNED-PAYLOAD',
    'X-Amz-Credential': `${keys.accessKeyId}/20130524/us-east-1/s3/aws4_request`,
    'X-Amz-Date': '20130524T000000Z',
    'X-Amz-Expires': '86400',
    'X-Amz-SignedHeaders': 'host',
    'X-Amz-Signature': expect.stringMatching(/^[0-9a-f]{64}$/),
    ...responseHeaders,
  })
  expect(await sign({ ...request, responseHeaders })).toBe(url)
  expect(await sign({ ...request, method: 'HEAD', responseHeaders })).not.toBe(url)
})

test('the path contains the bucket unless the host name does', async () => {
  const sign = createUrlSigner({ ...keys, endpoint: 'http://objects:9000/', bucket: 'videos' })
  expect((await sign({ ...request, name: 'media/1/a.mp4' })).split('?')[0]).toBe('http://objects:9000/videos/media/1/a.mp4')
})
