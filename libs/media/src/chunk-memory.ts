import type { EncodePlan } from './plan.ts'

const BASE_BYTES = 64 * 2 ** 20
/**
 * Memory for each pixel of each rendition: frames between decoder and encoders, look-ahead and
 * reference frames. The values were measured on sources of 360p to 2160p. The encoders of AV1 and
 * HEVC need more.
 */
const BYTES_PER_PIXEL = { h264: 132, others: 400 }

/**
 * Returns the maximum memory of a picture chunk in bytes. A worker uses it to limit the number of
 * concurrent chunks.
 */
export function chunkMemoryBytes({ renditions }: Pick<EncodePlan, 'renditions'>): number {
  const renditionBytes = renditions.map(({ video }) => {
    const codec = video?.codec ?? 'h264'
    return (video?.width ?? 0) * (video?.height ?? 0) * (codec === 'h264' ? BYTES_PER_PIXEL.h264 : BYTES_PER_PIXEL.others)
  })
  return BASE_BYTES + renditionBytes.reduce((sum, bytes) => sum + bytes, 0)
}
