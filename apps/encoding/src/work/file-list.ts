import { createHash } from 'node:crypto'
import { isObjectName, type ObjectStorage } from '@vitascope/storage'
import type { StoredFile } from './task.ts'

/** A list of files, or a file of one, that is not in storage as it was reported. */
export class FilesDiffer extends Error {
  constructor(what: string) {
    super(what)
    this.name = 'FilesDiffer'
  }
}

/** Reads a list of files back; it must be the very list that was reported, where `wanted` tells. */
export async function readFileList(
  storage: ObjectStorage,
  name: string,
  wanted: { sha256: string } | undefined,
  signal: AbortSignal,
): Promise<StoredFile[]> {
  const info = await storage.stat(name, signal)
  if (!info) throw new FilesDiffer('the list of files is missing')
  const { stream } = await storage.open(name, { signal })
  const parts: Buffer[] = []
  for await (const part of stream) parts.push(part as Buffer)
  const bytes = Buffer.concat(parts)
  if (wanted && createHash('sha256').update(bytes).digest('hex') !== wanted.sha256)
    throw new FilesDiffer('the list of files is another one')
  const files: unknown = JSON.parse(bytes.toString('utf8'))
  if (!Array.isArray(files) || files.length === 0 || !files.every(isStoredFile)) throw new FilesDiffer('the list of files is malformed')
  return files
}

function isStoredFile(file: unknown): file is StoredFile {
  if (typeof file !== 'object' || file === null) return false
  const { path, bytes, sha256 } = file as Partial<StoredFile>
  return (
    typeof path === 'string' && isObjectName(path) && Number.isSafeInteger(bytes) && Number(bytes) > 0 && /^[0-9a-f]{64}$/.test(`${sha256}`)
  )
}

const LOOKS_AT_ONCE = 16

/** Every file must be there with its size; its checksum was taken from the bytes that were put. */
export async function checkFiles(storage: ObjectStorage, prefix: string, files: readonly StoredFile[], signal: AbortSignal): Promise<void> {
  for (let from = 0; from < files.length; from += LOOKS_AT_ONCE) {
    await Promise.all(
      files.slice(from, from + LOOKS_AT_ONCE).map(async ({ path, bytes }) => {
        const info = await storage.stat(`${prefix}/${path}`, signal)
        if (info?.bytes !== bytes) throw new FilesDiffer(`${path} is not in storage as it was made`)
      }),
    )
  }
}
