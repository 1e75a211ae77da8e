import { open } from 'node:fs/promises'
import { InvalidSource } from '@vitascope/media'

export type PresentationFormat = 'pdf' | 'pptx' | 'odp'

const HEAD_BYTES = 65_536
/** The central directory of a ZIP archive is at its end. */
const TAIL_BYTES = 2 ** 20

/**
 * Detects the format from the content, never from the name. Throws `InvalidSource` (4002) for any
 * other format.
 */
export async function sniffPresentation(path: string): Promise<PresentationFormat> {
  const { head, tail } = await readHeadAndTail(path)
  // PDF readers accept up to 1 KiB of other data before the header.
  if (head.subarray(0, 1024).includes('%PDF-')) return 'pdf'
  if (head.subarray(0, 4).toString('latin1') === 'PK\x03\x04') {
    if (head.subarray(30, 128).includes('mimetypeapplication/vnd.oasis.opendocument.presentation')) return 'odp'
    if ([head, tail].some((part) => part.includes('ppt/presentation.xml'))) return 'pptx'
  }
  throw new InvalidSource(4002, 'this is not a presentation of a supported format (PDF, PPTX, ODP)')
}

async function readHeadAndTail(path: string): Promise<{ head: Buffer; tail: Buffer }> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    const read = async (bytes: number, from: number) => {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, from)
      return buffer.subarray(0, bytesRead)
    }
    return { head: await read(HEAD_BYTES, 0), tail: await read(Math.min(size, TAIL_BYTES), Math.max(0, size - TAIL_BYTES)) }
  } finally {
    await file.close()
  }
}
