import { readFile } from 'node:fs/promises'

/** The routines that libx264 is held to; without it, it takes the newest that the processor has. */
export type X264Asm = 'AVX2'

/**
 * The AVX-512 routines of libx264 (seen in core 164) read memory that nobody wrote where the macroblocks of a row are no multiple of eight (426 and
 * 854 pixels wide): the look ahead then differs from run to run, and with it the frames. Those of AVX2 make the same frames each time, the very ones
 * that older processors make, and take 2 % more of a processor.
 */
export async function findX264Asm(file = '/proc/cpuinfo'): Promise<X264Asm | undefined> {
  const text = await readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return ''
    throw cause
  })
  return /^flags\s*:.*\bavx512f\b/m.test(text) ? 'AVX2' : undefined
}
