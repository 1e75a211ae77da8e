import { type User, UserStatus, UserType } from '@vitascope/proto/auth/v1/user'
import { z } from 'zod'
import { formatOptionalTimestamp, schema } from '../../server/schema/response-format.ts'

export const userTypes = ['uploader', 'standard', 'system'] as const
export const userStatuses = ['invited', 'active'] as const

const userType = z.enum(userTypes).meta({
  description:
    'Role of the user. `uploader` manages the content of its organisation. `standard` also manages its users and keys. `system` may ' +
    'access everything.',
})

const status = z
  .enum(userStatuses)
  .meta({ description: 'State of the user. A user with a password, or whose key has been used, is active.' })

const details = {
  organisation_id: schema.id('organisation'),
  first_name: schema.text('First name.', 'Ada'),
  last_name: schema.text('Last name.', 'Byron'),
  email: schema.text('Email address. It is unique and case-insensitive.', 'ada@example.org'),
  user_type: userType,
  status,
}

export const UserResponse = z
  .object({
    user_id: schema.id('user'),
    ...details,
    telephone_land: schema.text('Telephone number. It may be empty.', '+31 30 123 4567'),
    invited_by_user_id: schema.text('Id of the user who created the user. Empty for the first user.', '7'),
    time_created: schema.timestamp('Time of creation.'),
    time_last_modified: schema.timestamp('Time of the last change.'),
  })
  .meta({ id: 'User', description: 'A user. The password is never returned.' })

export const CreatedUserResponse = z.object({
  id: schema.id('user'),
  user_id: schema.id('user'),
  data: z.object({ ...details, time_created: schema.timestamp('Time of creation.') }),
})

export function userResponse(user: User): z.input<typeof UserResponse> {
  return {
    user_id: user.userId,
    ...detailsResponse(user),
    telephone_land: user.telephoneLand,
    invited_by_user_id: user.invitedByUserId ?? '',
    time_created: formatOptionalTimestamp(user.createTime),
    time_last_modified: formatOptionalTimestamp(user.updateTime),
  }
}

export function createdUserResponse(user: User): z.input<typeof CreatedUserResponse> {
  return {
    id: user.userId,
    user_id: user.userId,
    data: { ...detailsResponse(user), time_created: formatOptionalTimestamp(user.createTime) },
  }
}

function detailsResponse(user: User) {
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
