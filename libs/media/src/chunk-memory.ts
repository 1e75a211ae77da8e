import type { EncodePlan } from './plan.ts'

const BASE_BYTES = 64 * 2 ** 20
/**
 * Measured on sources of 360p to 2160p: frames under way from the decoder to the encoders, their look-ahead and references, of all renditions
 * together. The encoders of AV1 and HEVC keep more.
 */
const BYTES_A_PIXEL = { h264: 132, others: 400 }

/** The bytes of memory that a chunk of the picture takes at most, so that a worker takes no more chunks at once than it has room for. */
export function chunkMemoryBytes({ renditions }: Pick<EncodePlan, 'renditions'>): number {
  const taken = renditions.map(({ video }) => {
    const codec = video?.codec ?? 'h264'
    return (video?.width ?? 0) * (video?.height ?? 0) * (codec === 'h264' ? BYTES_A_PIXEL.h264 : BYTES_A_PIXEL.others)
  })
  return BASE_BYTES + taken.reduce((sum, bytes) => sum + bytes, 0)
}
