import { EncodeError } from './media-errors.ts'
import type { OutputFile } from './tool-output.ts'

/**
 * Returns the size of a JPEG that ffmpeg wrote, from its frame header (ITU-T T.81, B.2.2). Throws
 * `incomplete` if there is no frame header.
 */
export function readJpegSize(name: string, bytes: Buffer): { width: number; height: number } {
  for (let at = 2; at + 9 <= bytes.length && bytes[at] === 0xff; at += 2 + bytes.readUInt16BE(at + 2)) {
    if (FRAME_HEADERS.has(bytes[at + 1] ?? 0)) return { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) }
  }
  throw new EncodeError('incomplete', `${name} has no frame header`)
}

/** Markers of the headers of baseline, extended and progressive frames. */
const FRAME_HEADERS: ReadonlySet<number> = new Set([0xc0, 0xc1, 0xc2])

/** Throws `incomplete` unless the file has the start and end markers of a JPEG. */
export async function checkJpeg(name: string, { handle, bytes }: Pick<OutputFile, 'handle' | 'bytes'>): Promise<void> {
  const ends = Buffer.alloc(4)
  if (bytes >= 4) {
    await handle.read(ends, 0, 2, 0)
    await handle.read(ends, 2, 2, bytes - 2)
  }
  if (ends.toString('hex') !== 'ffd8ffd9') throw new EncodeError('incomplete', `${name} is truncated`)
}
