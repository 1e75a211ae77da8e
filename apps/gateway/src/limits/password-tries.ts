import { RateLimiterMemory } from 'rate-limiter-flexible'
import { addressGroup, consume } from './limiter.ts'

/** Bounds how often passwords of videos can be guessed; it stands whatever the other limits are. */
export interface PasswordTries {
  /** Counts a try of an address at a video, good or bad; refuses with 429 when it is one too many. */
  take(address: string, videoId: string): Promise<void>
}

const PER_ADDRESS_AND_VIDEO = 10
const PER_ADDRESS = 30
const PER_VIDEO = 100
const SECONDS = 60

/** Kept by this process alone. Who has no tries left takes none from the video's, so that one address cannot use up those of many videos. */
export function createPasswordTries(): PasswordTries {
  const byBoth = new RateLimiterMemory({ points: PER_ADDRESS_AND_VIDEO, duration: SECONDS })
  const byAddress = new RateLimiterMemory({ points: PER_ADDRESS, duration: SECONDS })
  const byVideo = new RateLimiterMemory({ points: PER_VIDEO, duration: SECONDS })
  return {
    async take(address, videoId) {
      await consume('password', byBoth, `${addressGroup(address)} ${videoId}`, 1)
      await consume('password_address', byAddress, addressGroup(address), 1)
      await consume('password_video', byVideo, videoId, 1)
    },
  }
}
