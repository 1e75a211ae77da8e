import { expect, test } from '@jest/globals'
import { presignedUrl } from './presigned-url.ts'

const keys = { region: 'us-east-1', accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' }
const request = { method: 'GET', name: 'test.txt', now: new Date('2013-05-24T00:00:00.999Z'), seconds: 86_400, answer: {} } as const

test('the example of the signature’s own documentation comes out', () => {
  const url = presignedUrl({ ...keys, endpoint: 'https://s3.amazonaws.com', bucket: 'examplebucket', virtualHost: true }, request)
  expect(url.split('?')[0]).toBe('https://examplebucket.s3.amazonaws.com/test.txt')
  expect(new URL(url).searchParams.get('X-Amz-Signature')).toBe('aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404')
})

test('the bucket is in the path where it is no part of the host', () => {
  const url = presignedUrl({ ...keys, endpoint: 'http://objects:9000/', bucket: 'videos' }, { ...request, name: 'media/1/a.mp4' })
  expect(url.split('?')[0]).toBe('http://objects:9000/videos/media/1/a.mp4')
})
