import { RateLimiterMemory } from 'rate-limiter-flexible'
import { addressGroup, consume } from './limiter.ts'

/** Bounds how often passwords of videos can be guessed; it stands whatever the other limits are. */
export interface PasswordTries {
  /** Counts a try of an address at a video, good or bad; refuses with 429 when it is one too many. */
  take(address: string, videoId: string): Promise<void>
}

const PER_ADDRESS = 10
const PER_VIDEO = 100
const SECONDS = 60

/** Kept by this process alone. Who has no tries left takes none from the video's, so that one address cannot use them up. */
export function createPasswordTries(): PasswordTries {
  const byAddress = new RateLimiterMemory({ points: PER_ADDRESS, duration: SECONDS })
  const byVideo = new RateLimiterMemory({ points: PER_VIDEO, duration: SECONDS })
  return {
    async take(address, videoId) {
      await consume('password', byAddress, `${addressGroup(address)} ${videoId}`, 1)
      await consume('password_video', byVideo, videoId, 1)
    },
  }
}
