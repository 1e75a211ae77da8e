/** Formats of still pictures that users may upload. */
export type PictureFormat = 'jpeg' | 'png' | 'webp'

/** Number of bytes that `sniffPicture` needs. */
export const PICTURE_HEAD_BYTES = 12

/**
 * Returns the format of a picture from its first bytes, or undefined for all other files. Names and
 * content types are ignored.
 */
export function sniffPicture(head: Buffer): PictureFormat | undefined {
  if (head.toString('hex', 0, 3) === 'ffd8ff') return 'jpeg'
  if (head.toString('hex', 0, 8) === '89504e470d0a1a0a') return 'png'
  return head.toString('latin1', 0, 4) === 'RIFF' && head.toString('latin1', 8, 12) === 'WEBP' ? 'webp' : undefined
}

/**
 * Returns the orientation of a picture, 1 to 8, as in tag 0x0112 of Exif 2.32. It is 1 without a
 * valid tag. Builds of ffmpeg differ in the formats whose orientation they apply.
 */
export function readOrientation(bytes: Buffer, format: PictureFormat): number {
  const exif = findExif(bytes, format)
  return exif === undefined ? 1 : readOrientationTag(exif)
}

function findExif(bytes: Buffer, format: PictureFormat): Buffer | undefined {
  if (format === 'jpeg') return findJpegExif(bytes)
  return format === 'png' ? findPngChunk(bytes, 'eXIf') : withoutMarker(findRiffChunk(bytes, 'EXIF'))
}

/**
 * Returns the contents of the APP1 segment with Exif data. Segments end at the start of the picture
 * data (SOS).
 */
function findJpegExif(bytes: Buffer): Buffer | undefined {
  for (let at = 2; at + 4 <= bytes.length && bytes[at] === 0xff; ) {
    const marker = bytes[at + 1] ?? 0
    if (marker === 0xff) {
      at++
      continue
    }
    if (marker === SOS) return undefined
    const end = at + 2 + bytes.readUInt16BE(at + 2)
    if (marker === APP1 && bytes.toString('latin1', at + 4, at + 10) === EXIF_MARKER) return bytes.subarray(at + 10, end)
    at = end
  }
  return undefined
}

const [APP1, SOS] = [0xe1, 0xda]
const EXIF_MARKER = 'Exif\0\0'

function findPngChunk(bytes: Buffer, type: string): Buffer | undefined {
  for (let at = 8; at + 8 <= bytes.length; ) {
    const length = bytes.readUInt32BE(at)
    if (bytes.toString('latin1', at + 4, at + 8) === type) return bytes.subarray(at + 8, at + 8 + length)
    // Each chunk ends with a checksum.
    at += 12 + length
  }
  return undefined
}

function findRiffChunk(bytes: Buffer, type: string): Buffer | undefined {
  for (let at = 12; at + 8 <= bytes.length; ) {
    const length = bytes.readUInt32LE(at + 4)
    if (bytes.toString('latin1', at, at + 4) === type) return bytes.subarray(at + 8, at + 8 + length)
    // Chunks have an even length.
    at += 8 + length + (length % 2)
  }
  return undefined
}

/** Removes the marker of a JPEG segment, which some programs write to WebP files too. */
function withoutMarker(exif: Buffer | undefined): Buffer | undefined {
  return exif?.toString('latin1', 0, 6) === EXIF_MARKER ? exif.subarray(6) : exif
}

const ORIENTATION_TAG = 0x0112
const SHORT_TYPE = 3
const ENTRY_BYTES = 12

/** Reads the tag from the first directory of a TIFF structure. */
function readOrientationTag(tiff: Buffer): number {
  const order = tiff.toString('latin1', 0, 2)
  if (tiff.length < 10 || (order !== 'II' && order !== 'MM')) return 1
  const read16 = (at: number) => (at + 2 > tiff.length ? 0 : order === 'II' ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at))
  const directory = order === 'II' ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4)
  const entries = read16(directory)
  for (let entry = 0; entry < entries; entry++) {
    const at = directory + 2 + entry * ENTRY_BYTES
    if (at + ENTRY_BYTES > tiff.length) return 1
    if (read16(at) !== ORIENTATION_TAG) continue
    const value = read16(at + 2) === SHORT_TYPE ? read16(at + 8) : 0
    return value >= 1 && value <= 8 ? value : 1
  }
  return 1
}
