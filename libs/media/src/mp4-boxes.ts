import { open } from 'node:fs/promises'

export interface Mp4Box {
  type: string
  bytes: number
}

/** The outermost boxes of an MP4 file or segment, in order; undefined when they do not fill the file exactly, as in one that was cut. */
export async function outerBoxes(path: string): Promise<Mp4Box[] | undefined> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    const boxes: Mp4Box[] = []
    const header = Buffer.alloc(16)
    let place = 0
    while (place < size) {
      const { bytesRead } = await file.read(header, 0, 16, place)
      if (bytesRead < 8) return undefined
      const short = header.readUInt32BE(0)
      // A size of 1 says that the real one follows in 64 bits.
      const bytes = short === 1 ? Number(header.readBigUInt64BE(8)) : short
      if (bytes < 8 || place + bytes > size) return undefined
      boxes.push({ type: header.toString('latin1', 4, 8), bytes })
      place += bytes
    }
    return boxes
  } finally {
    await file.close()
  }
}

/** What the head of a segment tells of it. */
export interface SegmentHead {
  /** When it begins, from the start of the whole. */
  startSeconds: number
  seconds: number
  /** Frames of a picture, blocks of sound. */
  samples: number
}

/** Reads the boxes in front of the media of an fMP4 segment: one index (`sidx`), one fragment of one track. Undefined when they are not there. */
export async function readSegmentHead(path: string): Promise<SegmentHead | undefined> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0)
    return segmentHead(buffer.subarray(0, bytesRead))
  } finally {
    await file.close()
  }
}

/** Room for the boxes in front of the table of samples, whose own head is all that is read of it. */
const headBytes = 4096

function segmentHead(bytes: Buffer): SegmentHead | undefined {
  const sidx = bodyOf(bytes, 'sidx')
  const traf = bodyOf(bodyOf(bytes, 'moof'), 'traf')
  const [tfdt, trun] = [bodyOf(traf, 'tfdt'), bodyOf(traf, 'trun')]
  if (!sidx || !tfdt || !trun || sidx.length < 32 || tfdt.length < 8 || trun.length < 8) return undefined
  const timescale = sidx.readUInt32BE(8)
  // Behind it: two times, as wide as the version says, a count, then size and length of the only reference.
  const lengthPlace = sidx[0] === 0 ? 28 : 36
  const start = tfdt[0] === 0 ? tfdt.readUInt32BE(4) : tfdt.length < 12 ? undefined : Number(tfdt.readBigUInt64BE(4))
  if (timescale === 0 || start === undefined || sidx.length < lengthPlace + 4) return undefined
  return { startSeconds: start / timescale, seconds: sidx.readUInt32BE(lengthPlace) / timescale, samples: trun.readUInt32BE(4) }
}

/** What a box of this type holds, as far as it was read; undefined where there is none. */
function bodyOf(bytes: Buffer | undefined, type: string): Buffer | undefined {
  for (let place = 0; bytes && place + 8 <= bytes.length; ) {
    const size = bytes.readUInt32BE(place)
    if (size < 8) return undefined
    if (bytes.toString('latin1', place + 4, place + 8) === type) return bytes.subarray(place + 8, place + size)
    place += size
  }
  return undefined
}
