import { DomainError, invalid } from '@vitascope/errors'
import type { Clip } from '../clip/clip.ts'
import { checkText } from '../input.ts'
import type { Grounds } from '../neighbour/standing.ts'

/** Somebody's work on a video, without the clips. */
export interface EntryHead extends EntryFields, Grounds {
  collaborationId: string
  organisationId: string
  createdByUserId: string
  lastModifiedByUserId: string
  createTime: Date
  updateTime: Date
}

export interface Entry extends EntryHead {
  clips: Clip[]
}

export interface EntryFields {
  /** Empty for none. */
  userId: string
  /** The entry's own address; empty for that of its user. */
  email: string
}

/** Of one video. */
export const MOST_ENTRIES = 100

export const CHANGEABLE = ['user_id', 'email'] as const

/** Refuses what is no address; an empty text is none. */
export function checkEmail(email: string): string {
  const problems = checkText('email', email, { max: 254 })
  if (problems.length === 0 && email !== '' && !/^[^\s@]+@[^\s@]+$/.test(email)) {
    problems.push({ field: 'email', message: 'must be an email address' })
  }
  if (problems.length > 0) throw invalid(problems)
  return email
}

export function entriesFull(): DomainError {
  return new DomainError('refused', 'COLLABORATION_FULL', `a video has at most ${MOST_ENTRIES} collaboration entries: delete one first`)
}
