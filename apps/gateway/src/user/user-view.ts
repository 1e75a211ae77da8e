import { type User, UserStatus, UserType } from '@vitascope/proto/auth/v1/user'
import { z } from 'zod'
import { shown, timestampText } from '../public-form.ts'

export const userTypes = ['uploader', 'standard', 'system'] as const
export const userStatuses = ['invited', 'active'] as const

const userType = z.enum(userTypes).meta({
  description:
    'What the user may do: `uploader` works with its organisation’s content, `standard` also manages its users and keys, `system` reaches all.',
})

const status = z.enum(userStatuses).meta({ description: 'Active with a password, or after the first use of a key.' })

const details = {
  organisation_id: shown.id('organisation'),
  first_name: shown.text('First name.', 'Ada'),
  last_name: shown.text('Last name.', 'Byron'),
  email: shown.text('Email address; unique without regard to case.', 'ada@example.org'),
  user_type: userType,
  status,
}

export const UserRecord = z
  .object({
    user_id: shown.id('user'),
    ...details,
    telephone_land: shown.text('Telephone; may be empty.'),
    invited_by_user_id: shown.text('Who created it; empty for the first one.', '7'),
    time_created: shown.timestamp('When it was created.'),
    time_last_modified: shown.timestamp('When it was last changed.'),
  })
  .meta({ id: 'User', description: 'A user; its password is never shown.' })

export const CreatedUser = z.object({
  user_id: shown.id('user'),
  data: z.object({ ...details, time_created: shown.timestamp('When it was created.') }),
})

export function userView(user: User): z.input<typeof UserRecord> {
  return {
    user_id: user.userId,
    ...detailsView(user),
    telephone_land: user.telephoneLand,
    invited_by_user_id: user.invitedByUserId ?? '',
    time_created: timestampText(user.createTime),
    time_last_modified: timestampText(user.updateTime),
  }
}

export function createdUserView(user: User): z.input<typeof CreatedUser> {
  return { user_id: user.userId, data: { ...detailsView(user), time_created: timestampText(user.createTime) } }
}

function detailsView(user: User) {
  return {
    organisation_id: user.organisationId,
    first_name: user.firstName,
    last_name: user.lastName,
    email: user.email,
    user_type: typeWord(user.userType),
    status: statusWord(user.status),
  }
}

function typeWord(type: UserType): (typeof userTypes)[number] {
  if (type === UserType.USER_TYPE_SYSTEM) return 'system'
  return type === UserType.USER_TYPE_STANDARD ? 'standard' : 'uploader'
}

function statusWord(status: UserStatus): (typeof userStatuses)[number] {
  return status === UserStatus.USER_STATUS_ACTIVE ? 'active' : 'invited'
}
