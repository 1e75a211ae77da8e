import { expect, test } from '@jest/globals'
import { fixedMasterKeys } from '@vitascope/security'
import { sealedCodec } from './sealed-codec.ts'

const result = { token: 'a-secret-token', expires: 5 }

test('a response is decoded as it was encoded, and its secret is not readable in the bytes', () => {
  const codec = sealedCodec<typeof result>(fixedMasterKeys('a master key of this test, long enough'))
  const bytes = codec.encode(result)
  expect(codec.decode(bytes)).toEqual(result)
  expect(Buffer.from(bytes).toString('latin1')).not.toContain('a-secret-token')
  expect(Buffer.from(codec.encode(result))).not.toEqual(Buffer.from(bytes))
})

test('changed bytes and bytes of another master key are rejected', () => {
  const codec = sealedCodec<typeof result>(fixedMasterKeys('a master key of this test, long enough'))
  const bytes = Buffer.from(codec.encode(result))
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1
  expect(() => codec.decode(bytes)).toThrow()
  expect(() =>
    codec.decode(sealedCodec<typeof result>(fixedMasterKeys('another master key of this test, long enough')).encode(result)),
  ).toThrow()
})
