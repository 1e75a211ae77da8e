import { addressBudget, type BudgetFactory, consumePoints, localBudgets } from '@vitascope/rate-limit'

/** Limits guesses of video passwords. It applies even if the other limits are off. */
export interface PasswordAttempts {
  /**
   * Counts an attempt of an address for a video, correct or not. Throws `RateLimited` (429) above
   * the limit.
   */
  count(address: string, videoId: string): Promise<void>
}

const PER_ADDRESS_AND_VIDEO = 10
const PER_ADDRESS = 30
const PER_VIDEO = 100
const SECONDS = 60
/**
 * Budget of a /48 as a multiple of that of a /64. For one video it is a fifth of the budget of all
 * callers.
 */
const WIDER = 2

/**
 * Creates the limits. An address that is over its own limit does not consume the video's budget, so
 * one address cannot exhaust it for many videos.
 */
export function createPasswordAttempts(createBudget: BudgetFactory = localBudgets): PasswordAttempts {
  const addressAndVideoBudget = addressBudget(createBudget, 'password', { points: PER_ADDRESS_AND_VIDEO, duration: SECONDS, wider: WIDER })
  const addressOnlyBudget = addressBudget(createBudget, 'password_address', { points: PER_ADDRESS, duration: SECONDS, wider: WIDER })
  const videoBudget = createBudget('password_video', { points: PER_VIDEO, duration: SECONDS })
  return {
    async count(address, videoId) {
      await addressAndVideoBudget.consume(address, 1, videoId)
      await addressOnlyBudget.consume(address, 1)
      await consumePoints('password_video', videoBudget, videoId, 1)
    },
  }
}
