import { type Budgets, ownBudgets } from './budget.ts'
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

/** Who has no tries left takes none from the video's, so that one address cannot use up those of many videos. */
export function createPasswordTries(budgetOf: Budgets = ownBudgets): PasswordTries {
  const byBoth = budgetOf('password', { points: PER_ADDRESS_AND_VIDEO, duration: SECONDS })
  const byAddress = budgetOf('password_address', { points: PER_ADDRESS, duration: SECONDS })
  const byVideo = budgetOf('password_video', { points: PER_VIDEO, duration: SECONDS })
  return {
    async take(address, videoId) {
      await consume('password', byBoth, `${addressGroup(address)} ${videoId}`, 1)
      await consume('password_address', byAddress, addressGroup(address), 1)
      await consume('password_video', byVideo, videoId, 1)
    },
  }
}
