import { DomainError } from '@vitascope/errors'

/** The part of a call that makes a change conditional. */
export interface ExpectedUpdate {
  /** Times of the last change in ms since 1970, one of which the record must have. Undefined: the change is unconditional. */
  expectedUpdateTimes?: readonly number[] | undefined
}

/** Throws RECORD_CHANGED if the record has another time of its last change. The caller has locked the record. */
export function requireUnchanged({ expectedUpdateTimes }: ExpectedUpdate, updateTime: Date): void {
  if (expectedUpdateTimes === undefined || expectedUpdateTimes.includes(updateTime.getTime())) return
  throw new DomainError(
    'failed_precondition',
    'RECORD_CHANGED',
    'the record has changed since it was read: read it again, and repeat the change',
  )
}
