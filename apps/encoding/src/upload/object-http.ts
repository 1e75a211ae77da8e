import type { ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { notFound } from '@vitascope/errors'
import { isUuid } from '@vitascope/request'
import { createPiecewiseReads, DEFAULT_PIECEWISE_BOUNDS, type ObjectStorage } from '@vitascope/storage'
import type { Logger } from '@vitascope/telemetry'
import { createFormGate } from './form-gate.ts'
import { type PostedObject, postObject } from './post-object.ts'
import type { UploadHandler } from './upload-listener.ts'
import type { UploadQuota } from './upload-quota.ts'
import type { UploadService } from './upload-service.ts'
import type { UploadStore } from './upload-store.ts'

/**
 * Maximum concurrent requests to the store for downloads by link, and maximum bytes buffered for
 * slow clients.
 */
const MAX_FILE_READS = 16
const MAX_BUFFERED_BYTES = 16 * 1024 * 1024

/**
 * Returns the handler of `POST /object`, as in an S3-compatible store, and of `GET` and `HEAD` of
 * `/file/ID` for upload links.
 */
export function objectHandler(tools: {
  uploads: UploadStore
  storage: ObjectStorage
  service: UploadService
  quota: UploadQuota
  log: Logger
}): UploadHandler {
  const { uploads, storage, service, quota, log } = tools
  const gate = createFormGate()
  // Clients may read slowly, and reads of jobs must not wait for them.
  const reads = createPiecewiseReads(storage, {
    ...DEFAULT_PIECEWISE_BOUNDS,
    maxRequests: MAX_FILE_READS,
    maxBufferedBytes: MAX_BUFFERED_BYTES,
  })
  return async ({ request, response, path, query, client, publicUrl, signal }) => {
    if (path === '/object' && request.method === 'POST') {
      const posted = await postObject({ uploads, storage, location: service.location, gate, quota, log }, { request, client, signal })
      sendPosted(response, posted, service.location.bucket, publicUrl)
      return true
    }
    const uploadId = /^\/file\/([^/]{1,64})$/.exec(path)?.[1]
    if (uploadId === undefined || (request.method !== 'GET' && request.method !== 'HEAD')) return false
    const link = { uploadId, expires: Number(query.get('expires')), signature: query.get('signature') ?? '' }
    const upload = isUuid(uploadId) && service.isValidLink(link) ? await uploads.findById(uploadId, signal) : undefined
    if (!upload) throw notFound('upload', uploadId)
    const object = await (request.method === 'HEAD' ? storage.stat(upload.object, signal) : reads.open(upload.object, { signal }))
    if (!object) throw notFound('upload', uploadId)
    response.writeHead(200, {
      'Content-Type': 'application/octet-stream',
      'Content-Length': object.bytes,
      // Prevents the browser from rendering the file in our origin.
      'Content-Disposition': `attachment; filename*=UTF-8''${encodeURIComponent(upload.filename).replaceAll("'", '%27')}`,
      'Content-Security-Policy': 'sandbox',
      'X-Content-Type-Options': 'nosniff',
      'Cache-Control': 'private, no-store',
    })
    if ('stream' in object) await pipeline(object.stream, response)
    else response.end()
    return true
  }
}

function sendPosted(response: ServerResponse, { key, etag, status }: PostedObject, bucket: string, publicUrl: string): void {
  const location = `${publicUrl}/v2/upload/object/${key}`
  const headers = { ETag: `"${etag}"`, Location: location }
  if (status !== 201) {
    response.writeHead(status, { ...headers, ...(status === 200 && { 'Content-Length': 0 }) }).end()
    return
  }
  // The bucket, the key and the etag contain no characters that need escaping in XML.
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<PostResponse><Location>${location.replaceAll('&', '&amp;')}</Location><Bucket>${bucket}</Bucket><Key>${key}</Key><ETag>"${etag}"</ETag></PostResponse>`
  response.writeHead(201, { ...headers, 'Content-Type': 'application/xml', 'Content-Length': Buffer.byteLength(body) }).end(body)
}
