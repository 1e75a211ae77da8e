import { expect, test } from '@jest/globals'
import { codecName } from './codec-name.ts'

const box = (name: string, hex: string) =>
  Buffer.concat([Buffer.from('head of it'), Buffer.from(name, 'latin1'), Buffer.from(hex, 'hex'), Buffer.from('tail')])

test.each([
  ['avc1.64001F', 'avcC', '0164001fffe1'],
  ['avc1.42C01E', 'avcC', '0142c01effe1'],
  ['hvc1.1.6.L93.90', 'hvcC', '0101600000009000000000005df000fcfd'],
  ['hvc1.2.4.L120.B0', 'hvcC', '01022000 0000 b0000000000078f000fcfd'.replaceAll(' ', '')],
  ['hvc1.A1.6.H153.B0.0.1', 'hvcC', '0161600000 00b00001000000 99f000fcfd'.replaceAll(' ', '')],
  ['av01.0.05M.08', 'av1C', '81050d000a0b'],
  ['av01.0.13H.10', 'av1C', '810dcd000a0b'],
  ['mp4a.40.2', 'mp4a', '00000000'],
])('the configuration box has the codec name %s', (name, type, hex) => {
  expect(codecName(box(type, hex))).toBe(name)
})

test('a truncated or unsupported codec configuration has no name', () => {
  expect(codecName(Buffer.from('hvcC\x01\x01', 'latin1'))).toBeUndefined()
  expect(codecName(Buffer.from('av1C'))).toBeUndefined()
  expect(codecName(Buffer.from('vp09'))).toBeUndefined()
})
