import { DomainError, requireValid } from '@vitascope/errors'
import { checkText } from '@vitascope/request'
import type { References } from '../clients/resolve-references.ts'
import type { Clip } from './clip.ts'

/** An entry without its clips. */
export interface EntryHead extends EntryFields, References {
  collaborationId: string
  organisationId: string
  createdByUserId: string
  lastModifiedByUserId: string
  createTime: Date
  updateTime: Date
  /** Time at which the guest link of the entry ends. Undefined without a valid link. */
  guestLinkExpireTime: Date | undefined
}

export interface Entry extends EntryHead {
  clips: Clip[]
}

export interface EntryFields {
  /** Empty if the entry belongs to no user. */
  userId: string
  /** Email address of the entry. If it is empty, the address of the user is used. */
  email: string
}

/** Maximum number of entries per video. */
export const MAX_ENTRIES = 100

export const CHANGEABLE = ['user_id', 'email'] as const

/** Returns the email address, or an empty string. Throws `invalid` if it is malformed. */
export function checkEmail(email: string): string {
  const problems = checkText('email', email, { max: 254 })
  if (problems.length === 0 && email !== '' && !/^[^\s@]+@[^\s@]+$/.test(email)) {
    problems.push({ field: 'email', message: 'must be an email address' })
  }
  requireValid(problems)
  return email
}

export function entriesFull(): DomainError {
  return new DomainError(
    'failed_precondition',
    'COLLABORATION_FULL',
    `a video has at most ${MAX_ENTRIES} collaboration entries; delete one first`,
  )
}
