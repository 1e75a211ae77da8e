import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, jest, test } from '@jest/globals'
import { isDomainError } from '@vitascope/errors'
import type { ObjectInfo, ObjectStorage } from '@vitascope/storage'
import { testLog } from '@vitascope/testing'
import { objectHandler } from './object-http.ts'
import type { UploadQuota } from './upload-quota.ts'
import type { UploadService } from './upload-service.ts'
import type { UploadStore } from './upload-store.ts'

const UPLOAD_ID = '6fa1a6a4-8f5c-4f4b-9b3b-3f1f1f0d1c2b'
let close = async () => {}
afterEach(() => close())

/** Serves an upload whose link is valid. Returns the response to HEAD, and the calls that open its object. */
async function requestHead(info: ObjectInfo | undefined) {
  const open = jest.fn<ObjectStorage['open']>()
  const upload = { uploadId: UPLOAD_ID, organisationId: '2', object: 'uploads/2/a.mp4', filename: 'Film.mp4', bytes: 5, etag: '' }
  const handle = objectHandler({
    uploads: { findById: async () => upload } as unknown as UploadStore,
    storage: { open, stat: async () => info } as unknown as ObjectStorage,
    service: { isValidLink: () => true } as unknown as UploadService,
    quota: {} as UploadQuota,
    log: testLog,
  })
  const server = createServer((request, response) => {
    const { pathname: path, searchParams: query } = new URL(request.url ?? '/', 'http://encoding')
    const caller = { principal: { kind: 'guest' }, requestId: 'r', client: '', publicUrl: '' } as const
    handle({ ...caller, request, response, path, query, signal: new AbortController().signal }).catch((error: unknown) =>
      response.writeHead(isDomainError(error) && error.reason === 'UPLOAD_NOT_FOUND' ? 404 : 500).end(),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  close = () => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(() => resolve()))
  }
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/file/${UPLOAD_ID}?expires=1&signature=s`
  const response = await fetch(url, { method: 'HEAD' })
  return { status: response.status, length: response.headers.get('content-length'), open }
}

test('HEAD of an upload has its size, and does not open the object', async () => {
  const { status, length, open } = await requestHead({ name: 'uploads/2/a.mp4', bytes: 5, modified: new Date() })
  expect([status, length]).toEqual([200, '5'])
  expect(open).not.toHaveBeenCalled()
})

test('HEAD of an upload whose object is gone is not found', async () => {
  expect(await requestHead(undefined)).toMatchObject({ status: 404 })
})
