import type { FileHandle } from 'node:fs/promises'

export interface Mp4Box {
  type: string
  bytes: number
}

/**
 * Returns the top-level boxes of an MP4 file or segment in order. Returns undefined if they do not
 * fill the file exactly, as in a truncated file.
 */
export async function outerBoxes(file: FileHandle): Promise<Mp4Box[] | undefined> {
  const { size } = await file.stat()
  const boxes: Mp4Box[] = []
  const header = Buffer.alloc(16)
  let offset = 0
  while (offset < size) {
    const { bytesRead } = await file.read(header, 0, 16, offset)
    if (bytesRead < 8) return undefined
    const short = header.readUInt32BE(0)
    // A size of 1 means that a 64-bit size follows.
    const bytes = short === 1 ? Number(header.readBigUInt64BE(8)) : short
    if (bytes < 8 || offset + bytes > size) return undefined
    boxes.push({ type: header.toString('latin1', 4, 8), bytes })
    offset += bytes
  }
  return boxes
}

/** Values from the head of a segment. */
export interface SegmentHead {
  /** Start of the segment in seconds from the start of the video. */
  startSeconds: number
  seconds: number
  /** Number of frames of a picture, or of audio blocks. */
  samples: number
}

/**
 * Reads the boxes before the media of an fMP4 segment: one index (`sidx`), one fragment of one
 * track. Returns undefined if they are missing.
 */
export async function readSegmentHead(file: FileHandle): Promise<SegmentHead | undefined> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)
  return segmentHead(buffer.subarray(0, bytesRead))
}

/** Bytes for the boxes before the sample table; of that table only the header is read. */
const HEAD_BYTES = 4096

function segmentHead(bytes: Buffer): SegmentHead | undefined {
  const sidx = findBoxContent(bytes, 'sidx')
  const traf = findBoxContent(findBoxContent(bytes, 'moof'), 'traf')
  const [tfdt, trun] = [findBoxContent(traf, 'tfdt'), findBoxContent(traf, 'trun')]
  if (!sidx || !tfdt || !trun || sidx.length < 32 || tfdt.length < 8 || trun.length < 8) return undefined
  const timescale = sidx.readUInt32BE(8)
  // After the time scale there are two times, whose width depends on the version, a count, then
  // size and duration of the only reference.
  const durationOffset = sidx[0] === 0 ? 28 : 36
  const start = tfdt[0] === 0 ? tfdt.readUInt32BE(4) : tfdt.length < 12 ? undefined : Number(tfdt.readBigUInt64BE(4))
  if (timescale === 0 || start === undefined || sidx.length < durationOffset + 4) return undefined
  return { startSeconds: start / timescale, seconds: sidx.readUInt32BE(durationOffset) / timescale, samples: trun.readUInt32BE(4) }
}

/**
 * Returns the content of the first box of this type, as far as it was read, or undefined if there
 * is none.
 */
function findBoxContent(bytes: Buffer | undefined, type: string): Buffer | undefined {
  for (let offset = 0; bytes && offset + 8 <= bytes.length; ) {
    const size = bytes.readUInt32BE(offset)
    if (size < 8) return undefined
    if (bytes.toString('latin1', offset + 4, offset + 8) === type) return bytes.subarray(offset + 8, offset + size)
    offset += size
  }
  return undefined
}
