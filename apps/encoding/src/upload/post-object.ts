import { createHash, type Hash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { DomainError } from '@vitascope/errors'
import type { ObjectStorage } from '@vitascope/storage'
import { receiveFileForm } from './file-form.ts'
import { organisationOfKey } from './policy.ts'
import { type AdmittedPost, admitPost } from './post-policy.ts'
import type { UploadPlace } from './upload-desk.ts'
import type { UploadStore } from './upload-store.ts'

export interface PostedObject {
  key: string
  etag: string
  status: AdmittedPost['status']
}

interface Tools {
  uploads: UploadStore
  storage: ObjectStorage
  place: UploadPlace
}

/** Takes a browser's form with a file, in place of an object store. The object is there when it is whole and written down, or not at all. */
export async function postObject({ uploads, storage, place }: Tools, request: IncomingMessage, signal: AbortSignal): Promise<PostedObject> {
  if (place.endpoint !== '') {
    throw new DomainError('refused', 'OBJECT_STORE_ELSEWHERE', `uploads go to the object store: post the form to ${place.endpoint}`)
  }
  return receiveFileForm(request, async (fields, file) => {
    const post = admitPost(fields, place, new Date())
    const { key, contentType, status } = post
    const organisationId = organisationOfKey(key) ?? (await uploads.find(key, signal))?.organisationId
    if (organisationId === undefined) throw new DomainError('forbidden', 'POLICY_REFUSED', 'the key is not, or no longer, anybody’s')
    const hash = createHash('md5')
    const source = Readable.from(measured(file, post, hash), { objectMode: false })
    const { bytes } = await storage.put(key, source, { signal, ...(contentType !== undefined && { contentType }) })
    const etag = hash.digest('hex')
    if (!(await uploads.arrived({ organisationId, object: key, bytes, etag }, signal))) {
      throw new DomainError('conflict', 'UPLOAD_GOING', 'an earlier upload under this key is being removed: choose another key')
    }
    return { key, etag, status }
  })
}

/** The bytes as they come, as long as they are within the range of the policy. */
async function* measured(file: Readable, { leastBytes, mostBytes }: AdmittedPost, hash: Hash): AsyncGenerator<Buffer> {
  let bytes = 0
  for await (const chunk of file as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > mostBytes)
      throw new DomainError('invalid', 'ENTITY_TOO_LARGE', `the file has more than the ${mostBytes} bytes of the policy`)
    hash.update(chunk)
    yield chunk
  }
  if (bytes < leastBytes)
    throw new DomainError('invalid', 'ENTITY_TOO_SMALL', `the file has less than the ${leastBytes} bytes of the policy`)
}
