import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { findX264Asm } from './pin-x264-asm.ts'

test.each([
  ['a processor with AVX-512 is limited to AVX2', 'flags\t\t: fpu sse2 avx2 avx512f avx512dq', 'AVX2'],
  ['a processor without AVX-512 is not limited', 'flags\t\t: fpu sse2 avx2', undefined],
  ['an ARM processor is not limited', 'Features\t: fp asimd avx512f', undefined],
])('%s', async (_, text, asm) => {
  const file = join(tmpdir(), `vitascope-cpuinfo-${process.pid}`)
  await writeFile(file, `processor\t: 0\n${text}\nbugs\t\t: none\n`)
  expect(await findX264Asm(file)).toBe(asm)
})

test('a system without this file is not limited', async () => {
  expect(await findX264Asm('/nowhere/cpuinfo')).toBeUndefined()
})
