import { Readable } from 'node:stream'
import { InvalidSource } from '@vitascope/media'
import type { ObjectStorage, StoredBytes } from '@vitascope/storage'
import type { TusPart, TusStore } from '../tus/tus-store.ts'
import type { UploadSource } from '../upload/upload-source.ts'
import type { UploadStore } from '../upload/upload-store.ts'

/** Copies an upload to the source of a job, so that each can be deleted independently. */
export interface UploadImporter {
  /**
   * Stores the upload as `object`. `file` is a path for a temporary copy. `onProgress` is called
   * with the stored share, 0 to 1. Throws `InvalidSource` if the upload no longer exists or is too
   * large.
   */
  importUpload(
    source: UploadSource,
    options: { organisationId: string; object: string; file: string; maxBytes: number; onProgress: (share: number) => void },
    signal: AbortSignal,
  ): Promise<StoredBytes>
}

export function createUploadImporter({
  uploads,
  tusUploads,
  storage,
}: {
  uploads: UploadStore
  tusUploads: TusStore
  storage: ObjectStorage
}): UploadImporter {
  return {
    async importUpload({ kind, uploadId }, { organisationId, object, file, maxBytes, onProgress }, signal) {
      if (kind === 'tus') return joinParts(uploadId, { organisationId, object, onProgress }, signal)
      const upload = await uploads.findById(uploadId, signal)
      const stored = upload && (await storage.stat(upload.object, signal))
      if (!upload || !stored || upload.organisationId !== organisationId)
        throw new InvalidSource(4001, 'the uploaded file no longer exists')
      if (stored.bytes > maxBytes) throw new InvalidSource(4003, `the uploaded file has more than ${maxBytes} bytes`)
      // File storage creates a link instead of a copy.
      await storage.download(upload.object, file, signal)
      return storage.put(object, { file, move: true }, { signal })
    },
  }

  async function joinParts(
    uploadId: string,
    { organisationId, object, onProgress }: { organisationId: string; object: string; onProgress: (share: number) => void },
    signal: AbortSignal,
  ): Promise<StoredBytes> {
    const upload = await tusUploads.find(uploadId, signal)
    const parts = await tusUploads.listParts(uploadId)
    if (!upload || upload.received !== upload.length || upload.organisationId !== organisationId) {
      throw new InvalidSource(4001, 'the uploaded file no longer exists')
    }
    return storage.put(object, Readable.from(readParts(parts, upload.received, onProgress, signal), { objectMode: false }), { signal })
  }

  async function* readParts(
    parts: readonly TusPart[],
    total: number,
    onProgress: (share: number) => void,
    signal: AbortSignal,
  ): AsyncGenerator<Buffer> {
    let bytes = 0
    for (const part of parts) {
      const { stream } = await storage.open(part.object, { signal })
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        bytes += chunk.length
        yield chunk
      }
      onProgress(bytes / total)
    }
  }
}
