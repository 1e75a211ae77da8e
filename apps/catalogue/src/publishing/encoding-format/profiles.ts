export type VideoCodec = 'h264' | 'hevc' | 'av1'

/** A rendition that can be encoded in addition to the standard renditions. */
export interface EncodingProfile {
  id: number
  videoCodec: VideoCodec
  /** Bit rate of the file in kbit/s. */
  label: number
  /** Width of a 16:9 picture. */
  width: number
  height: number
  /** Bit rate of the audio in kbit/s. */
  audioBitrate: number
}

/** Ids are never reused for another profile. */
export const profiles: readonly EncodingProfile[] = [
  { id: 1, videoCodec: 'h264', label: 2500, width: 1920, height: 1080, audioBitrate: 128 },
  { id: 2, videoCodec: 'h264', label: 4500, width: 2560, height: 1440, audioBitrate: 128 },
  { id: 3, videoCodec: 'h264', label: 6000, width: 3840, height: 2160, audioBitrate: 128 },
  { id: 11, videoCodec: 'hevc', label: 300, width: 640, height: 360, audioBitrate: 64 },
  { id: 12, videoCodec: 'hevc', label: 500, width: 854, height: 480, audioBitrate: 128 },
  { id: 13, videoCodec: 'hevc', label: 900, width: 1280, height: 720, audioBitrate: 128 },
  { id: 14, videoCodec: 'hevc', label: 1800, width: 1920, height: 1080, audioBitrate: 128 },
  { id: 15, videoCodec: 'hevc', label: 4500, width: 3840, height: 2160, audioBitrate: 128 },
  { id: 21, videoCodec: 'av1', label: 250, width: 640, height: 360, audioBitrate: 64 },
  { id: 22, videoCodec: 'av1', label: 400, width: 854, height: 480, audioBitrate: 128 },
  { id: 23, videoCodec: 'av1', label: 700, width: 1280, height: 720, audioBitrate: 128 },
  { id: 24, videoCodec: 'av1', label: 1400, width: 1920, height: 1080, audioBitrate: 128 },
  { id: 25, videoCodec: 'av1', label: 3500, width: 3840, height: 2160, audioBitrate: 128 },
]

/** Returns the key of the profile's rendition within a set. */
export function toRenditionKey({ videoCodec, label }: EncodingProfile): string {
  return `${videoCodec}_${label}`
}

export function findProfile(profileId: number): EncodingProfile | undefined {
  return profiles.find(({ id }) => id === profileId)
}
