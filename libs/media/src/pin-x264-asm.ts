import { readFile } from 'node:fs/promises'

/**
 * Instruction set that libx264 is limited to. Without a limit it uses the newest one of the CPU.
 */
export type X264Asm = 'AVX2'

/**
 * Returns `AVX2` on CPUs with AVX-512, else undefined. The AVX-512 routines of libx264 (seen in
 * core 164) read uninitialised memory if the macroblocks of a row are not a multiple of eight
 * (widths 426 and 854). The look-ahead then differs from run to run, and with it the frames. The
 * AVX2 routines always produce the same frames, which are those of older CPUs, and need 2 % more
 * CPU.
 */
export async function findX264Asm(file = '/proc/cpuinfo'): Promise<X264Asm | undefined> {
  const text = await readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return ''
    throw cause
  })
  return /^flags\s*:.*\bavx512f\b/m.test(text) ? 'AVX2' : undefined
}
