import type { Handlers, UserKind } from '@vitascope/grpc'
import { type User as UserMessage, type UserServiceService, UserStatus, UserType } from '@vitascope/proto/auth/v1/user'
import { pageById, readMask } from '@vitascope/request'
import { MAX_ROWS, messageSize } from '../rules/page-size.ts'
import {
  type Choice,
  createUser,
  deleteUser,
  getUser,
  getUserByEmail,
  listUserSummaries,
  listUsers,
  type UserStatus as Status,
  type User,
  type UserChangeInput,
  type UserChangeSteps,
  type UserStore,
  updateUser,
} from './user.ts'

const TYPES = {
  uploader: UserType.USER_TYPE_UPLOADER,
  standard: UserType.USER_TYPE_STANDARD,
  system: UserType.USER_TYPE_SYSTEM,
} as const
const STATUSES = { invited: UserStatus.USER_STATUS_INVITED, active: UserStatus.USER_STATUS_ACTIVE } as const
const CHANGEABLE = ['first_name', 'last_name', 'email', 'user_type', 'status', 'telephone_land', 'password'] as const

export function userHandlers(users: UserStore, steps: UserChangeSteps): Handlers<typeof UserServiceService> {
  return {
    async getUser({ userId }, call) {
      return { user: toUserMessage(await getUser(users, userId, call)) }
    },
    async getUserByEmail({ email }, call) {
      return { user: toUserMessage(await getUserByEmail(users, email, call)) }
    },
    async listUserSummaries({ userIds }, call) {
      const summaries = await listUserSummaries(users, userIds, call)
      return { summaries: summaries.map(({ userType, ...user }) => ({ ...user, userType: toUserType(userType) })) }
    },
    async listUsers(request, call) {
      const { rows, nextPageToken } = await pageById(request, MAX_ROWS, {
        read: (page) => listUsers(users, request.organisationId, page, call),
        getId: (user) => user.userId,
        getBytes: messageSize,
      })
      return { users: rows.map(toUserMessage), nextPageToken }
    },
    async createUser({ user, password }, call) {
      const input = {
        organisationId: user?.organisationId ?? '',
        firstName: user?.firstName ?? '',
        lastName: user?.lastName ?? '',
        email: user?.email ?? '',
        userType: user && toUserKind(user.userType),
        status: user && toStatus(user.status),
        telephoneLand: user?.telephoneLand ?? '',
        invitedByUserId: user?.invitedByUserId,
        password,
      }
      return { user: toUserMessage(await createUser(users, steps.hashPassword, input, call)) }
    },
    async updateUser({ user, updateMask, password }, call) {
      const change = toChange(user, password, readMask(updateMask, CHANGEABLE))
      return { user: toUserMessage(await updateUser(users, steps, { userId: user?.userId ?? '', input: change }, call)) }
    },
    async deleteUser({ userId }, call) {
      await deleteUser(users, userId, call)
      return {}
    },
  }
}

/** Returns the masked fields. A missing type or status becomes 'unknown', because it cannot be cleared. */
function toChange(
  user: UserMessage | undefined,
  password: string | undefined,
  mask: ReadonlySet<(typeof CHANGEABLE)[number]>,
): UserChangeInput {
  return {
    ...(mask.has('first_name') && { firstName: user?.firstName ?? '' }),
    ...(mask.has('last_name') && { lastName: user?.lastName ?? '' }),
    ...(mask.has('email') && { email: user?.email ?? '' }),
    ...(mask.has('user_type') && { userType: (user && toUserKind(user.userType)) ?? 'unknown' }),
    ...(mask.has('status') && { status: (user && toStatus(user.status)) ?? 'unknown' }),
    ...(mask.has('telephone_land') && { telephoneLand: user?.telephoneLand ?? '' }),
    ...(mask.has('password') && { password: password ?? '' }),
  }
}

/** Returns the proto value of a user type. */
export function toUserType(kind: UserKind): UserType {
  return TYPES[kind]
}

function toUserKind(type: UserType): Choice<UserKind> {
  if (type === UserType.USER_TYPE_UNSPECIFIED) return undefined
  return (['uploader', 'standard', 'system'] as const).find((kind) => TYPES[kind] === type) ?? 'unknown'
}

function toStatus(status: UserStatus): Choice<Status> {
  if (status === UserStatus.USER_STATUS_UNSPECIFIED) return undefined
  return (['invited', 'active'] as const).find((name) => STATUSES[name] === status) ?? 'unknown'
}

export function toUserMessage(user: User): UserMessage {
  return { ...user, userType: toUserType(user.userType), status: STATUSES[user.status] }
}
