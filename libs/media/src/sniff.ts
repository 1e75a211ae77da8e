import { open } from 'node:fs/promises'
import { InvalidSource } from './media-errors.ts'

/** A supported file type, with the only demuxer of ffmpeg that may read it. */
export interface Container {
  name: 'mp4' | 'matroska' | 'mpegts' | 'mpeg' | 'avi' | 'flv' | 'asf' | 'mp3' | 'aac' | 'wav' | 'ogg' | 'flac'
  demuxer: string
}

/**
 * Detects the container from the first bytes only, never from a name: ffmpeg's own detection would
 * open playlists and scripts that refer to other files. Throws `InvalidSource` with 4002 for
 * unsupported types.
 */
export async function sniffContainer(path: string): Promise<Container> {
  const name = detectContainer(await readFirstBytes(path))
  if (name === undefined) {
    throw new InvalidSource(
      4002,
      'this is not a video or audio file of a known kind (MP4, MOV, WebM, Matroska, MPEG-TS, AVI, FLV, WMV, MP3, WAV, Ogg …)',
    )
  }
  return { name, demuxer: demuxers[name] }
}

const demuxers: Record<Container['name'], string> = {
  mp4: 'mov',
  matroska: 'matroska',
  mpegts: 'mpegts',
  mpeg: 'mpeg',
  avi: 'avi',
  flv: 'flv',
  asf: 'asf',
  mp3: 'mp3',
  aac: 'aac',
  wav: 'wav',
  ogg: 'ogg',
  flac: 'flac',
}

const SNIFFED_BYTES = 65_536

async function readFirstBytes(path: string): Promise<Buffer> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(SNIFFED_BYTES), 0, SNIFFED_BYTES, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

function detectContainer(bytes: Buffer): Container['name'] | undefined {
  const text = (from: number, to: number) => bytes.toString('latin1', from, to)
  if (isMp4(text(4, 8), text(8, 12))) return 'mp4'
  if (bytes.length >= 16 && bytes.readUInt32BE(0) === 0x1a45dfa3) {
    return /matroska|webm/.test(text(4, 64)) ? 'matroska' : undefined
  }
  const riff = text(0, 4)
  if (riff === 'RIFF' && text(8, 12) === 'AVI ') return 'avi'
  if ((riff === 'RIFF' || riff === 'RF64') && text(8, 12) === 'WAVE') return 'wav'
  if (text(0, 4) === 'FLV\x01') return 'flv'
  if (text(0, 8) === '\x30\x26\xb2\x75\x8e\x66\xcf\x11') return 'asf'
  if (text(0, 4) === 'OggS') return 'ogg'
  if (text(0, 4) === 'fLaC') return 'flac'
  if (text(0, 4) === '\x00\x00\x01\xba') return 'mpeg'
  const id3Length = readId3Length(bytes)
  // A tag with a cover picture is often longer than the bytes that were read. Such files are nearly
  // always MP3; the demuxer makes the final decision.
  if (id3Length >= bytes.length && id3Length > 0) return 'mp3'
  return detectElementaryAudio(bytes.subarray(id3Length)) ?? (isTransportStream(bytes) ? 'mpegts' : undefined)
}

/**
 * Returns whether the first box belongs to video or audio. Still pictures use the same boxes with
 * different brands.
 */
function isMp4(type: string, brand: string): boolean {
  if (type === 'ftyp') return !/^(avif|avis|mif1|msf1|heic|heix|heim|heis|hevc|hevx)$/.test(brand)
  return ['moov', 'mdat', 'free', 'skip', 'wide', 'styp', 'moof'].includes(type)
}

/** Returns the length of a leading ID3v2 tag, or 0. Its size has 7 bits in each byte. */
function readId3Length(bytes: Buffer): number {
  if (bytes.toString('latin1', 0, 3) !== 'ID3' || bytes.length < 10) return 0
  return 10 + [6, 7, 8, 9].reduce((size, index) => size * 128 + ((bytes[index] ?? 0) & 0x7f), 0)
}

/** Detects audio frames without a container: FLAC, ADTS (AAC) and MPEG layers 2 and 3. */
function detectElementaryAudio(bytes: Buffer): 'mp3' | 'aac' | 'flac' | undefined {
  if (bytes.toString('latin1', 0, 4) === 'fLaC') return 'flac'
  const [first = 0, second = 0, third = 0] = bytes
  if (first !== 0xff || bytes.length < 4) return undefined
  if ((second & 0xf6) === 0xf0) return 'aac'
  const layer = (second >> 1) & 3
  const known = (second & 0xe0) === 0xe0 && ((second >> 3) & 3) !== 1 && (layer === 1 || layer === 2)
  return known && third >> 4 !== 15 && ((third >> 2) & 3) !== 3 ? 'mp3' : undefined
}

/**
 * Returns whether the first five packets have sync bytes, or at least three in a shorter file, for
 * packets of 188, 192 (with a leading time stamp) and 204 bytes.
 */
function isTransportStream(bytes: Buffer): boolean {
  return [
    { start: 0, step: 188 },
    { start: 4, step: 192 },
    { start: 0, step: 204 },
  ].some(({ start, step }) => {
    const positions = [0, 1, 2, 3, 4].map((packet) => start + packet * step).filter((position) => position < bytes.length)
    return positions.length >= 3 && positions.every((position) => bytes[position] === 0x47)
  })
}
