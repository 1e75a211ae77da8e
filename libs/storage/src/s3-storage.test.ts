import { describe, test } from '@jest/globals'
import { s3Path, startS3 } from '@vitascope/testing'
import { openS3Storage } from './s3-client.ts'
import { storageSuite } from './storage-suite.ts'

if (s3Path() === undefined) describe.skip('the S3 store', () => test('needs a server', () => {}))
else {
  storageSuite('the S3 store', async () => {
    const server = await startS3()
    const storage = openS3Storage(server)
    return { storage, close: () => server.stop() }
  })
}
