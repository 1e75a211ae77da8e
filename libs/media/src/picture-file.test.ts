import { expect, test } from '@jest/globals'
import { readOrientation, sniffPicture } from './picture-file.ts'

test.each([
  ['JPEG', 'ffd8ffe000104a46494600', 'jpeg'],
  ['PNG', '89504e470d0a1a0a0000000d', 'png'],
  ['WebP', `52494646aabbccdd${Buffer.from('WEBP').toString('hex')}`, 'webp'],
  ['WAVE', `52494646aabbccdd${Buffer.from('WAVE').toString('hex')}`, undefined],
  ['GIF', Buffer.from('GIF89a').toString('hex'), undefined],
  ['SVG', Buffer.from('<svg xmlns=').toString('hex'), undefined],
  ['empty file', '', undefined],
])('the format of a %s is recognised by its first bytes', (_, hex, format) => {
  expect(sniffPicture(Buffer.from(hex, 'hex'))).toBe(format)
})

/** Returns a TIFF structure whose directory has one entry. */
function tiff(order: 'II' | 'MM', orientation: number, tag = 0x0112): Buffer {
  const bytes = Buffer.alloc(26)
  const write16 = (value: number, at: number) => (order === 'II' ? bytes.writeUInt16LE(value, at) : bytes.writeUInt16BE(value, at))
  const write32 = (value: number, at: number) => (order === 'II' ? bytes.writeUInt32LE(value, at) : bytes.writeUInt32BE(value, at))
  bytes.write(order, 0, 'latin1')
  write16(42, 2)
  write32(8, 4)
  write16(1, 8)
  write16(tag, 10)
  write16(3, 12)
  write32(1, 14)
  write16(orientation, 18)
  return bytes
}

function jpeg(exif: Buffer): Buffer {
  const segment = Buffer.concat([Buffer.from('Exif\0\0', 'latin1'), exif])
  const head = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff, 0xe1, 0, 0])
  head.writeUInt16BE(segment.length + 2, 10)
  return Buffer.concat([head, segment, Buffer.from('ffda0002', 'hex')])
}

function png(exif: Buffer): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const length = Buffer.alloc(4)
    length.writeUInt32BE(data.length)
    return Buffer.concat([length, Buffer.from(type, 'latin1'), data, Buffer.alloc(4)])
  }
  return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), chunk('IHDR', Buffer.alloc(13)), chunk('eXIf', exif)])
}

function webp(exif: Buffer): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const length = Buffer.alloc(4)
    length.writeUInt32LE(data.length)
    return Buffer.concat([Buffer.from(type, 'latin1'), length, data, Buffer.alloc(data.length % 2)])
  }
  return Buffer.concat([Buffer.from('RIFF\0\0\0\0WEBP', 'latin1'), chunk('VP8 ', Buffer.alloc(5)), chunk('EXIF', exif)])
}

test.each([
  ['a JPEG', jpeg(tiff('MM', 6)), 'jpeg', 6],
  ['a JPEG in little-endian order', jpeg(tiff('II', 8)), 'jpeg', 8],
  ['a PNG', png(tiff('MM', 3)), 'png', 3],
  ['a WebP file', webp(tiff('II', 5)), 'webp', 5],
  ['a WebP file with the marker of JPEG', webp(Buffer.concat([Buffer.from('Exif\0\0', 'latin1'), tiff('II', 7)])), 'webp', 7],
  ['an unknown value', jpeg(tiff('MM', 9)), 'jpeg', 1],
  ['another tag', jpeg(tiff('MM', 6, 0x0110)), 'jpeg', 1],
  ['a file without the tag', jpeg(Buffer.alloc(0)), 'jpeg', 1],
] as const)('the orientation of %s is read', (_, bytes, format, orientation) => {
  expect(readOrientation(bytes, format)).toBe(orientation)
})

test('a file that is truncated at any length has its orientation or the default one', () => {
  for (const [file, format] of [
    [jpeg(tiff('MM', 6)), 'jpeg'],
    [png(tiff('II', 6)), 'png'],
    [webp(tiff('II', 6)), 'webp'],
  ] as const)
    for (let length = 0; length < file.length; length++) expect([1, 6]).toContain(readOrientation(file.subarray(0, length), format))
})
