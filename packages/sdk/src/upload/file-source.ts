import { open } from 'node:fs/promises'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { invalidArgument } from '../error.ts'
import type { UploadSource } from './upload-source.ts'

/** Opens a file of Node.js. Throws `invalid_argument` if it cannot be read. */
export async function openFile(path: string | URL): Promise<UploadSource> {
  const name = path instanceof URL ? fileURLToPath(path) : path
  const file = await open(name, 'r').catch((cause: Error) => {
    throw invalidArgument(`The file of an upload cannot be opened: ${cause.message}.`)
  })
  const { size } = await file.stat()
  return {
    size,
    filename: basename(name),
    async read(offset, maxBytes) {
      const bytes = new Uint8Array(Math.max(0, Math.min(maxBytes, size - offset)))
      let length = 0
      while (length < bytes.length) {
        const { bytesRead } = await file.read(bytes, length, bytes.length - length, offset + length)
        if (bytesRead === 0) break
        length += bytesRead
      }
      return bytes.subarray(0, length)
    },
    close: () => file.close(),
  }
}
