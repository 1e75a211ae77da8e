import { createHash } from 'node:crypto'
import { isObjectName, type ObjectStorage } from '@vitascope/storage'
import type { StoredFile } from './task.ts'

/** Thrown if a list of files, or a file in it, differs in storage from what was reported. */
export class StoredFilesMismatch extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'StoredFilesMismatch'
  }
}

/**
 * Returns a list of files from storage. Throws `StoredFilesMismatch` if it is missing, is not a
 * list of files as JSON, or differs from the checksum in `expected`.
 */
export async function readFileList(
  storage: ObjectStorage,
  name: string,
  expected: { sha256: string } | undefined,
  signal: AbortSignal,
): Promise<StoredFile[]> {
  const info = await storage.stat(name, signal)
  if (!info) throw new StoredFilesMismatch('the list of files is missing')
  const { stream } = await storage.open(name, { signal })
  const buffers: Buffer[] = []
  for await (const buffer of stream) buffers.push(buffer as Buffer)
  const bytes = Buffer.concat(buffers)
  if (expected && createHash('sha256').update(bytes).digest('hex') !== expected.sha256)
    throw new StoredFilesMismatch('the checksum of the list of files differs')
  const files = parseJson(bytes)
  if (!Array.isArray(files) || files.length === 0 || !files.every(isStoredFile))
    throw new StoredFilesMismatch('the list of files is malformed')
  return files
}

/** Returns undefined if the bytes are not JSON. */
function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return undefined
  }
}

function isStoredFile(file: unknown): file is StoredFile {
  if (typeof file !== 'object' || file === null) return false
  const { path, bytes, sha256 } = file as Partial<StoredFile>
  return (
    typeof path === 'string' && isObjectName(path) && Number.isSafeInteger(bytes) && Number(bytes) > 0 && /^[0-9a-f]{64}$/.test(`${sha256}`)
  )
}

const MAX_CONCURRENT_CHECKS = 16

/**
 * Throws `StoredFilesMismatch` unless every file exists with its size. It does not read the files:
 * the worker computed the checksums from the bytes that it stored.
 */
export async function checkFiles(storage: ObjectStorage, prefix: string, files: readonly StoredFile[], signal: AbortSignal): Promise<void> {
  for (let from = 0; from < files.length; from += MAX_CONCURRENT_CHECKS) {
    await Promise.all(
      files.slice(from, from + MAX_CONCURRENT_CHECKS).map(async ({ path, bytes }) => {
        const info = await storage.stat(`${prefix}/${path}`, signal)
        if (info?.bytes !== bytes) throw new StoredFilesMismatch(`${path} is missing in storage or has another size`)
      }),
    )
  }
}
