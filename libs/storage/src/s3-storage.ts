import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { unlink, writeFile } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  type GetObjectCommandOutput,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
  S3ServiceException,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { DomainError, notFound } from '@vitascope/errors'
import { isErrno } from './disk.ts'
import { checkObjectName, checkObjectPrefix } from './object-name.ts'
import {
  type ByteRange,
  type ObjectInfo,
  type ObjectSource,
  type ObjectStorage,
  type PutOptions,
  type RangeRequest,
  resolveRange,
  type StoredBytes,
  UnsatisfiableRange,
} from './object-storage.ts'
import { isFileSource, openSource, readPieces } from './plain-file.ts'
import { isNetworkError } from './storage-failure.ts'

/**
 * Size of a part of a large object, and the maximum size of a small object. Each put has at most
 * three parts in memory.
 */
const PART_BYTES = 16 << 20
const MAX_CONCURRENT_PARTS = 2
/** Maximum number of keys in one request (S3, DeleteObjects). */
const MAX_KEYS_PER_DELETE = 1_000
/** Mode of downloaded files. They are readable for ffmpeg, which runs as another user. */
const FILE_MODE = 0o644

/** Server-side encryption: by keys of the store, or by a key of KMS. */
export type Encryption = { algorithm: 'AES256' } | { algorithm: 'aws:kms'; kmsKeyId?: string }

/**
 * Creates an object store on a bucket of an S3 store. Objects are never replaced: writes are
 * conditional (`If-None-Match: *`), which the store must support. Small objects are stored with one
 * request. Large ones are uploaded in parts and become visible when they are complete.
 */
export function createS3Storage({
  client,
  bucket,
  encryption,
}: {
  client: S3Client
  bucket: string
  encryption?: Encryption
}): ObjectStorage {
  const encrypted = encryption ? encryptionHeaders(encryption) : {}
  const storage: ObjectStorage = {
    async put(name, source, options = {}) {
      const Key = checkObjectName(name)
      const stored = await withDomainErrors(name, () => putParts(Key, source, options), options.signal)
      if (isFileSource(source) && source.move) await removeFile(source.file)
      return stored
    },

    async open(name, { range, signal } = {}) {
      const Key = checkObjectName(name)
      if (range && !isValidRange(range)) throw new UnsatisfiableRange(await requireSize(name, signal))
      return withDomainErrors(
        name,
        async () => {
          const response = await client.send(
            new GetObjectCommand({ Bucket: bucket, Key, Range: range && rangeHeader(range) }),
            requestOptions(signal),
          )
          return toOpenedObject(response, range, signal)
        },
        signal,
        async () => new UnsatisfiableRange(await requireSize(name, signal)),
      )
    },

    async stat(name, signal) {
      const Key = checkObjectName(name)
      try {
        const head = await withDomainErrors(
          name,
          () => client.send(new HeadObjectCommand({ Bucket: bucket, Key }), requestOptions(signal)),
          signal,
        )
        const etag = head.ETag?.replaceAll('"', '')
        const info = { name, bytes: head.ContentLength ?? 0, modified: head.LastModified ?? new Date(0) }
        return etag === undefined ? info : { ...info, etag }
      } catch (error) {
        if (error instanceof DomainError && error.kind === 'not_found') return undefined
        throw error
      }
    },

    async *list(prefix, signal) {
      const folder = checkObjectPrefix(prefix)
      const Prefix = folder === '' ? undefined : `${folder}/`
      for (let token: string | undefined, hasMore = true; hasMore; ) {
        const command = new ListObjectsV2Command({ Bucket: bucket, Prefix, ContinuationToken: token })
        const page = await withDomainErrors(prefix, () => client.send(command, requestOptions(signal)), signal)
        for (const { Key, Size = 0, LastModified = new Date(0) } of page.Contents ?? []) {
          // Stores that are based on folders also list the folders.
          if (Key !== undefined && !Key.endsWith('/')) yield { name: Key, bytes: Size, modified: LastModified } satisfies ObjectInfo
        }
        token = page.NextContinuationToken
        hasMore = page.IsTruncated === true && token !== undefined
      }
    },

    async *folders(prefix, signal) {
      const folder = checkObjectPrefix(prefix)
      const Prefix = folder === '' ? undefined : `${folder}/`
      for (let token: string | undefined, hasMore = true; hasMore; ) {
        const command = new ListObjectsV2Command({ Bucket: bucket, Prefix, Delimiter: '/', ContinuationToken: token })
        const page = await withDomainErrors(prefix, () => client.send(command, requestOptions(signal)), signal)
        for (const common of page.CommonPrefixes ?? []) if (common.Prefix !== undefined) yield common.Prefix.slice(0, -1)
        token = page.NextContinuationToken
        hasMore = page.IsTruncated === true && token !== undefined
      }
    },

    async delete(name, signal) {
      if (!(await storage.stat(name, signal))) return false
      await withDomainErrors(
        name,
        () => client.send(new DeleteObjectCommand({ Bucket: bucket, Key: name }), requestOptions(signal)),
        signal,
      )
      return true
    },

    async deletePrefix(prefix, signal) {
      if (checkObjectPrefix(prefix) === '') throw new DomainError('invalid', 'BAD_OBJECT_NAME', 'the prefix must not be empty')
      let count = 0
      let names: string[] = []
      const flush = async () => {
        if (names.length === 0) return
        const Delete = { Objects: names.map((Key) => ({ Key })), Quiet: true }
        const { Errors = [] } = await withDomainErrors(
          prefix,
          () => client.send(new DeleteObjectsCommand({ Bucket: bucket, Delete }), requestOptions(signal)),
          signal,
        )
        if (Errors.length > 0) throw unavailable(new Error(`${Errors.length} objects were not deleted: ${Errors[0]?.Code ?? ''}`))
        count += names.length
        names = []
      }
      for await (const { name } of storage.list(prefix, signal)) if (names.push(name) === MAX_KEYS_PER_DELETE) await flush()
      await flush()
      return count
    },

    async download(name, targetFile, signal) {
      const { stream, bytes } = await storage.open(name, signal ? { signal } : {})
      await removeFile(targetFile)
      const write = async () => {
        // Small objects, which are frequent, are written with one call.
        if (bytes <= PART_BYTES) await writeFile(targetFile, await buffer(stream), { mode: FILE_MODE, signal })
        else await pipeline(stream, createWriteStream(targetFile, { mode: FILE_MODE }), { signal })
      }
      await withDomainErrors(name, write, signal)
      return { bytes }
    },
  }
  return storage

  /** Stores an object with one request, or in parts if it is larger than PART_BYTES. */
  async function putParts(Key: string, source: ObjectSource, { contentType, signal }: PutOptions): Promise<StoredBytes> {
    signal?.throwIfAborted()
    const target = { Bucket: bucket, Key }
    const hash = createHash('sha256')
    let bytes = 0
    let upload: { UploadId: string | undefined; parts: Promise<{ PartNumber: number; ETag: string | undefined }>[] } | undefined
    let pending: Buffer | undefined
    const result = () => ({ bytes, sha256: hash.digest('hex') })
    const begin = async () => {
      const { UploadId } = await client.send(
        new CreateMultipartUploadCommand({ ...target, ...encrypted, ContentType: contentType }),
        requestOptions(signal),
      )
      upload = { UploadId, parts: [] }
      return upload
    }
    const send = async (Body: Buffer) => {
      const { UploadId, parts } = upload ?? (await begin())
      const PartNumber = parts.length + 1
      const part = client
        .send(new UploadPartCommand({ ...target, UploadId, PartNumber, Body }), requestOptions(signal))
        .then(({ ETag }) => ({ PartNumber, ETag }))
      // The rejection is handled where the part is awaited.
      part.catch(() => {})
      parts.push(part)
      await parts.at(-MAX_CONCURRENT_PARTS)
    }
    try {
      for await (const part of splitIntoParts(source, signal)) {
        signal?.throwIfAborted()
        hash.update(part)
        bytes += part.length
        if (pending) await send(pending)
        pending = part
      }
      if (!upload) {
        const request = { ...target, ...encrypted, Body: pending ?? Buffer.alloc(0), ContentType: contentType, IfNoneMatch: '*' }
        await client.send(new PutObjectCommand(request), requestOptions(signal))
        return result()
      }
      if (pending) await send(pending)
      const { UploadId, parts } = upload
      const MultipartUpload = { Parts: await Promise.all(parts) }
      await client.send(
        new CompleteMultipartUploadCommand({ ...target, UploadId, MultipartUpload, IfNoneMatch: '*' }),
        requestOptions(signal),
      )
      return result()
    } catch (error) {
      if (upload) await abortUpload(target, upload)
      if (!isExistsError(error)) throw error
      const stored = result()
      if (await hasSameBytes(Key, stored, signal)) return stored
      // The other write is still running, and can fail.
      if (error instanceof S3ServiceException && error.$metadata.httpStatusCode === 409) throw unavailable(error)
      throw new DomainError('exists', 'OBJECT_EXISTS', 'another object with this name is already stored')
    }
  }

  async function requireSize(name: string, signal: AbortSignal | undefined): Promise<number> {
    const info = await storage.stat(name, signal)
    if (!info) throw notFound('object', name)
    return info.bytes
  }

  async function abortUpload(target: { Bucket: string; Key: string }, upload: { UploadId: string | undefined; parts: Promise<unknown>[] }) {
    await Promise.allSettled(upload.parts)
    // Remaining parts use space until the bucket's lifecycle rule deletes them. The original error
    // is more important, so this one is ignored.
    await client.send(new AbortMultipartUploadCommand({ ...target, UploadId: upload.UploadId })).catch(() => {})
  }

  async function hasSameBytes(name: string, stored: StoredBytes, signal: AbortSignal | undefined): Promise<boolean> {
    if ((await storage.stat(name, signal))?.bytes !== stored.bytes) return false
    const hash = createHash('sha256')
    await pipeline((await storage.open(name, signal ? { signal } : {})).stream, hash)
    return hash.digest('hex') === stored.sha256
  }
}

/** Returns the fields of a request that creates an object. Requests for its parts do not have them. */
function encryptionHeaders(encryption: Encryption) {
  const kmsKeyId = encryption.algorithm === 'aws:kms' ? encryption.kmsKeyId : undefined
  return { ServerSideEncryption: encryption.algorithm, ...(kmsKeyId !== undefined && { SSEKMSKeyId: kmsKeyId }) }
}

function requestOptions(abortSignal: AbortSignal | undefined) {
  return abortSignal ? { abortSignal } : {}
}

/**
 * Runs `work` and converts errors of the SDK to domain errors. Throws the result of `unsatisfiable`
 * for status 416, and the reason of the signal if it is aborted.
 */
async function withDomainErrors<T>(
  name: string,
  work: () => Promise<T>,
  signal: AbortSignal | undefined,
  unsatisfiable?: () => Promise<UnsatisfiableRange>,
): Promise<T> {
  try {
    signal?.throwIfAborted()
    return await work()
  } catch (error) {
    signal?.throwIfAborted()
    if (!(error instanceof Error) || error instanceof DomainError) throw error
    const status = error instanceof S3ServiceException ? (error.$metadata.httpStatusCode ?? 0) : 0
    if (status === 416 && unsatisfiable) throw await unsatisfiable()
    if (status === 404) throw notFound('object', name)
    if (status >= 500 || status === 429 || isNetworkError(error)) throw unavailable(error)
    throw error
  }
}

/** Returns whether a conditional write was rejected because the name exists or is being written. */
function isExistsError(error: unknown): boolean {
  return error instanceof S3ServiceException && (error.$metadata.httpStatusCode === 412 || error.$metadata.httpStatusCode === 409)
}

function unavailable(cause: unknown): DomainError {
  return new DomainError('unavailable', 'STORAGE_UNAVAILABLE', 'the object store is unreachable; try again', { retryAfter: 1, cause })
}

/** Deletes a file if it exists. `rm` with `force` would need an additional stat. */
async function removeFile(file: string): Promise<void> {
  await unlink(file).catch((error: unknown) => {
    if (!isErrno(error, 'ENOENT')) throw error
  })
}

/** Yields the bytes in parts of PART_BYTES; the last one may be shorter. */
async function* splitIntoParts(source: ObjectSource, signal: AbortSignal | undefined): AsyncGenerator<Buffer> {
  if (source instanceof Uint8Array) {
    const all = Buffer.from(source.buffer, source.byteOffset, source.byteLength)
    for (let from = 0; from < all.length; from += PART_BYTES) yield all.subarray(from, from + PART_BYTES)
    return
  }
  if (!isFileSource(source)) return yield* joinIntoParts(source)
  const opened = await openSource(source)
  try {
    yield* joinIntoParts(readPieces(opened, PART_BYTES, signal))
  } finally {
    await opened.close()
  }
}

/** Yields the bytes of a stream in parts of PART_BYTES. */
async function* joinIntoParts(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of stream) {
    for (let from = 0; from < piece.length; ) {
      const slice = piece.subarray(from, from + PART_BYTES - bytes)
      pieces.push(slice)
      bytes += slice.length
      from += slice.length
      if (bytes < PART_BYTES) continue
      yield Buffer.concat(pieces)
      pieces = []
      bytes = 0
    }
  }
  if (bytes > 0) yield Buffer.concat(pieces)
}

/** Returns false for a range that S3 would reject or interpret differently. */
function isValidRange(range: RangeRequest): boolean {
  if ('last' in range) return Number.isSafeInteger(range.last) && range.last > 0
  const { start, end = start } = range
  return Number.isSafeInteger(start) && Number.isSafeInteger(end) && start >= 0 && end >= start
}

function rangeHeader(range: RangeRequest): string {
  return 'last' in range ? `bytes=-${range.last}` : `bytes=${range.start}-${range.end ?? ''}`
}

function toOpenedObject(response: GetObjectCommandOutput, requested: RangeRequest | undefined, signal: AbortSignal | undefined) {
  const { Body, ContentLength = 0, ContentRange, LastModified = new Date(0) } = response
  if (!(Body instanceof Readable)) throw new Error('the object store responded without a body')
  const total = /\/(\d+)$/.exec(ContentRange ?? '')?.[1]
  const bytes = total === undefined ? ContentLength : Number(total)
  const range: ByteRange | undefined = requested && resolveRange(requested, bytes)
  signal?.throwIfAborted()
  return { stream: Body, bytes, modified: LastModified, range }
}
