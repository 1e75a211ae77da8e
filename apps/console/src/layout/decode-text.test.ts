import { expect, test } from '@jest/globals'
import { decodeText } from './decode-text.ts'

const toBytes = (...parts: readonly Uint8Array[]) => new Uint8Array(Buffer.concat(parts)).buffer
const littleEndian = Buffer.from('Größe', 'utf16le')

test.each([
  ['UTF-8', toBytes(Buffer.from('Größe'))],
  ['UTF-8 with a byte order mark', toBytes(Buffer.from('\ufeffGröße'))],
  ['Windows-1252', toBytes(Buffer.from('Größe', 'latin1'))],
  ['UTF-16 in little endian', toBytes(Buffer.from([0xff, 0xfe]), littleEndian)],
  ['UTF-16 in big endian', toBytes(Buffer.from([0xfe, 0xff]), Buffer.from(littleEndian).swap16())],
])('a text in %s is decoded', (_, bytes) => {
  expect(decodeText(bytes)).toBe('Größe')
})

test('an empty file has an empty text', () => {
  expect(decodeText(new ArrayBuffer(0))).toBe('')
})
