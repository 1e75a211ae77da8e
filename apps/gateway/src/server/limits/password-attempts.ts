import { addressBudget, type BudgetFactory, consumePoints, localBudgets } from '@vitascope/rate-limit'

/** Limits guesses of passwords. It applies even if the other limits are off. */
export interface PasswordAttempts {
  /**
   * Counts an attempt of an address for a video or a user, correct or not. Throws `RateLimited` (429) above
   * the limit.
   */
  count(address: string, subject: string): Promise<void>
}

const PER_ADDRESS_AND_SUBJECT = 10
const PER_ADDRESS = 30
const PER_SUBJECT = 100
const SECONDS = 60
/**
 * Budget of a /48 as a multiple of that of a /64. For one video or user it is a fifth of the budget of all
 * callers.
 */
const NETWORK_FACTOR = 2

/**
 * Creates the limits. An address that is over its own limit does not consume the budget of the video or user, so
 * one address cannot exhaust it for many of them.
 */
export function createPasswordAttempts(
  createBudget: BudgetFactory = localBudgets,
  kind: 'password' | 'sign_in' = 'password',
): PasswordAttempts {
  const addressAndSubjectBudget = addressBudget(createBudget, kind, {
    points: PER_ADDRESS_AND_SUBJECT,
    duration: SECONDS,
    networkFactor: NETWORK_FACTOR,
  })
  const addressOnlyBudget = addressBudget(createBudget, `${kind}_address`, {
    points: PER_ADDRESS,
    duration: SECONDS,
    networkFactor: NETWORK_FACTOR,
  })
  const subjectBudget = createBudget(`${kind}_subject`, { points: PER_SUBJECT, duration: SECONDS })
  return {
    async count(address, subject) {
      await addressAndSubjectBudget.consume(address, 1, subject)
      await addressOnlyBudget.consume(address, 1)
      await consumePoints(`${kind}_subject`, subjectBudget, subject, 1)
    },
  }
}
