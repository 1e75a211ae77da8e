import { describe, expect, test } from '@jest/globals'
import { s3Path, startS3 } from '@vitascope/testing'
import { openS3Storage, type StoreRequest } from './s3-client.ts'
import { storageSuite } from './storage-suite.ts'

if (s3Path() === undefined) describe.skip('the S3 store', () => test('needs a server', () => {}))
else {
  storageSuite('the S3 store', async () => {
    const server = await startS3()
    const storage = openS3Storage(server)
    return { storage, close: () => server.stop() }
  })

  test('every request is reported with its outcome', async () => {
    const server = await startS3()
    const requests: StoreRequest[] = []
    const storage = openS3Storage({ ...server, onRequest: (request) => requests.push(request) })
    try {
      await storage.put('media/1/a', Buffer.from('a'))
      expect(await storage.stat('media/1/a')).toMatchObject({ bytes: 1 })
      expect(await storage.stat('media/1/b')).toBeUndefined()
    } finally {
      await server.stop()
    }
    await expect(storage.stat('media/1/a')).rejects.toThrow()
    const outcomes = new Set(requests.map(({ operation, outcome }) => `${operation} ${outcome}`))
    expect([...outcomes]).toEqual(expect.arrayContaining(['PutObject ok', 'HeadObject ok', 'HeadObject missing', 'HeadObject failed']))
    expect(requests.every(({ seconds }) => seconds > 0 && seconds < 60)).toBe(true)
  })
}
