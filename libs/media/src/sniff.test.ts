import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { sniffContainer } from './sniff.ts'

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vitascope-sniff-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function sniff(bytes: string): Promise<string> {
  const file = join(folder, 'file')
  await writeFile(file, Buffer.from(bytes, 'latin1'))
  return sniffContainer(file).then(
    (container) => container.demuxer,
    (error: { code: number }) => String(error.code),
  )
}

const packets = `G${'\0'.repeat(187)}`.repeat(6)

test.each([
  ['MP4', '\0\0\0\x18ftypisom', 'mov'],
  ['QuickTime without a brand', '\0\0\0\x08wide\0\0\0\0mdat', 'mov'],
  ['WebM', '\x1a\x45\xdf\xa3\x9fB\x86\x81\x01B\xf7\x81\x01B\xf2\x81\x04B\xf3\x81\x08B\x82\x84webm', 'matroska'],
  ['AVI', 'RIFF\0\0\0\0AVI LIST', 'avi'],
  ['WAV', 'RIFF\0\0\0\0WAVEfmt ', 'wav'],
  ['FLV', 'FLV\x01\x05\0\0\0\x09', 'flv'],
  ['ASF', '\x30\x26\xb2\x75\x8e\x66\xcf\x11\xa6\xd9', 'asf'],
  ['Ogg', 'OggS\0\x02', 'ogg'],
  ['FLAC', 'fLaC\0\0\0\x22', 'flac'],
  ['MPEG program stream', '\0\0\x01\xba\x44\0', 'mpeg'],
  ['MP3', '\xff\xfb\x90\x64\0\0', 'mp3'],
  ['MP3 after a long tag', 'ID3\x04\0\0\0\x7f\x7f\x7f', 'mp3'],
  ['FLAC after a tag', 'ID3\x04\0\0\0\0\0\x02..fLaC', 'flac'],
  ['ADTS', '\xff\xf1\x50\x80\0\0', 'aac'],
  ['MPEG transport stream', packets, 'mpegts'],
  ['Blu-ray transport stream', `....${`G${'\0'.repeat(191)}`.repeat(6)}`, 'mpegts'],
  ['AVIF picture', '\0\0\0\x18ftypavif', '4002'],
  ['HEIC picture', '\0\0\0\x18ftypheic', '4002'],
  ['WebP picture', 'RIFF\0\0\0\0WEBPVP8 ', '4002'],
  ['JPEG picture', '\xff\xd8\xff\xe0\0\x10JFIF', '4002'],
  ['PNG picture', '\x89PNG\r\n\x1a\n', '4002'],
  ['UTF-16 text', '\xff\xfeh\0e\0l\0l\0o\0', '4002'],
  ['HLS', '#EXTM3U\n#EXTINF:4,\nx.ts\n', '4002'],
  ['text that begins with G', 'Good morning', '4002'],
  ['an empty file', '', '4002'],
  ['an EBML file of another kind', '\x1a\x45\xdf\xa3\x9fB\x82\x84other', '4002'],
])('the first bytes of %s select its demuxer or its error', async (_, bytes, demuxer) => {
  expect(await sniff(bytes)).toBe(demuxer)
})
