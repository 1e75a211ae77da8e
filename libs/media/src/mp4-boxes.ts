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

/** The codec of an initialisation segment as RFC 6381 spells it: `avc1.64001F` or `mp4a.40.2`. */
export function codecName(init: Buffer): string | undefined {
  const place = init.indexOf('avcC', 0, 'latin1')
  if (place >= 0 && place + 8 <= init.length) return `avc1.${init.toString('hex', place + 5, place + 8).toUpperCase()}`
  return init.includes('mp4a', 0, 'latin1') ? 'mp4a.40.2' : undefined
}
