import { open } from 'node:fs/promises'
import { SourceRefused } from '@vitascope/media'

export type PresentationFormat = 'pdf' | 'pptx' | 'odp'

const HEAD_BYTES = 65_536
/** The list of a ZIP archive's files stands at its end. */
const TAIL_BYTES = 2 ** 20

/** Tells the format from the bytes alone, never from a name. Refuses with 4002 what is none of the three. */
export async function sniffPresentation(path: string): Promise<PresentationFormat> {
  const { head, tail } = await endsOf(path)
  // Readers of PDF take up to 1 KiB of anything in front.
  if (head.subarray(0, 1024).includes('%PDF-')) return 'pdf'
  if (head.subarray(0, 4).toString('latin1') === 'PK\x03\x04') {
    if (head.subarray(30, 128).includes('mimetypeapplication/vnd.oasis.opendocument.presentation')) return 'odp'
    if ([head, tail].some((part) => part.includes('ppt/presentation.xml'))) return 'pptx'
  }
  throw new SourceRefused(4002, 'this is not a presentation of a known kind (PDF, PPTX, ODP)')
}

async function endsOf(path: string): Promise<{ head: Buffer; tail: Buffer }> {
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
