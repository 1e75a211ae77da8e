import { EncodeError } from './media-errors.ts'
import type { OutputFile } from './tool-output.ts'

/** Throws `incomplete` unless the file has the start and end markers of a JPEG. */
export async function checkJpeg(name: string, { handle, bytes }: Pick<OutputFile, 'handle' | 'bytes'>): Promise<void> {
  const ends = Buffer.alloc(4)
  if (bytes >= 4) {
    await handle.read(ends, 0, 2, 0)
    await handle.read(ends, 2, 2, bytes - 2)
  }
  if (ends.toString('hex') !== 'ffd8ffd9') throw new EncodeError('incomplete', `${name} is truncated`)
}
