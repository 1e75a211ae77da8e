import type { ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { notFound } from '@vitascope/errors'
import type { ObjectStorage } from '@vitascope/storage'
import { type PostedObject, postObject } from './post-object.ts'
import type { UploadDesk } from './upload-desk.ts'
import type { UploadHandler } from './upload-listener.ts'
import { isUuid } from './upload-rpc.ts'
import type { UploadStore } from './upload-store.ts'

/** `POST /object` as an object store has it, and `GET /file/ID` for whoever has the link of an upload. */
export function objectHandler(tools: { uploads: UploadStore; storage: ObjectStorage; desk: UploadDesk }): UploadHandler {
  const { uploads, storage, desk } = tools
  return async ({ request, response, path, query, publicUrl, signal }) => {
    if (path === '/object' && request.method === 'POST') {
      sendPosted(response, await postObject({ uploads, storage, place: desk.place }, request, signal), desk.place.bucket, publicUrl)
      return true
    }
    const uploadId = /^\/file\/([^/]{1,64})$/.exec(path)?.[1]
    if (uploadId === undefined || (request.method !== 'GET' && request.method !== 'HEAD')) return false
    const link = { uploadId, expires: Number(query.get('expires')), signature: query.get('signature') ?? '' }
    const upload = isUuid(uploadId) && desk.opens(link) ? await uploads.findById(uploadId, signal) : undefined
    if (!upload) throw notFound('upload', uploadId)
    const { stream, bytes } = await storage.open(upload.object, { signal })
    response.writeHead(200, {
      'Content-Type': 'application/octet-stream',
      'Content-Length': bytes,
      // Whatever it is, it is no page of ours.
      'Content-Disposition': `attachment; filename*=UTF-8''${encodeURIComponent(upload.filename).replaceAll("'", '%27')}`,
      'Content-Security-Policy': 'sandbox',
      'X-Content-Type-Options': 'nosniff',
      'Cache-Control': 'private, no-store',
    })
    if (request.method === 'HEAD') {
      stream.destroy()
      response.end()
    } else await pipeline(stream, response)
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
  // Neither part can hold a character that XML would mind.
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<PostResponse><Location>${location.replaceAll('&', '&amp;')}</Location><Bucket>${bucket}</Bucket><Key>${key}</Key><ETag>"${etag}"</ETag></PostResponse>`
  response.writeHead(201, { ...headers, 'Content-Type': 'application/xml', 'Content-Length': Buffer.byteLength(body) }).end(body)
}
