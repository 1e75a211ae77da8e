import { invalid } from '@vitascope/errors'
import { User, UserStatus, UserType } from '@vitascope/proto/auth/v1/user'
import { z } from 'zod'
import { Reply } from '../../server/route/reply.ts'
import { route } from '../../server/route/route.ts'
import { id, idOrNone, oneOf, organisationIdField, pathPart, text } from '../../server/schema/fields.ts'
import { collectRows, nextLink, pageQuery } from '../../server/schema/pagination.ts'
import { required, schema } from '../../server/schema/response-format.ts'
import { recentSignInCodes } from '../passkey/recent-sign-in.ts'
import { requestedOrganisation, requiredOrganisation } from '../shared/resolve-organisation.ts'
import { email, password, personName } from './user-fields.ts'
import { CreatedUserResponse, createdUserResponse, UserResponse, userResponse, userStatuses, userTypes } from './user-response.ts'

const details = {
  user_type: oneOf(userTypes, { description: 'Role of the user. Only a system key may assign `system`.' }),
  status: oneOf(userStatuses, { description: 'State of the user. An invited user becomes active with the first use of a key.' }),
  telephone_land: text(50, {}, { description: 'Telephone number.' }),
}

export const getUser = route({
  get: ['/user/:email'],
  operationId: 'getUserByEmail',
  section: 'Users',
  access: 'system',
  summary: 'Read the user of an email address',
  description: 'Returns the user with this email address.',
  params: z.object({ email: pathPart({ description: 'Email address. Upper and lower case are equal.', example: 'ada@example.org' }) }),
  response: UserResponse,
  async handle({ params }, { services, call }) {
    const { user } = await services.users.getUserByEmail({ email: params.email }, call)
    return userResponse(required(user, 'user'))
  },
})

export const createUser = route({
  post: ['/user'],
  operationId: 'createUser',
  section: 'Users',
  access: 'super',
  summary: 'Create a user',
  description:
    'Creates a user of an organisation. A super user creates users of its own organisation, except `system` users. The user is active if a password or `status` ' +
    '`active` is sent. Otherwise the user is invited.',
  payload: z.strictObject({
    organisation_id: organisationIdField(),
    first_name: personName('First name.', 'Ada'),
    last_name: personName('Last name.', 'Byron'),
    email,
    user_type: details.user_type.default('uploader'),
    status: details.status.optional(),
    password: password.optional(),
    invited_by_user_id: idOrNone('inviting user. Used only with a system key. Otherwise the caller is the inviting user').optional(),
    telephone_land: details.telephone_land.default(''),
  }),
  response: CreatedUserResponse,
  errorCodes: {
    email_taken: 'The email address is already in use.',
    system_only: 'Only a system key may create system users.',
    passwords_busy: 'Too many passwords are being checked or set. Retry after the time in `Retry-After`.',
  },
  async handle({ payload }, { caller, services, call }) {
    const { user } = await services.users.createUser(
      {
        user: User.create({
          organisationId: requestedOrganisation(caller, payload.organisation_id),
          firstName: payload.first_name,
          lastName: payload.last_name,
          email: payload.email,
          userType: toUserType(payload.user_type),
          status: toUserStatus(payload.status),
          telephoneLand: payload.telephone_land,
          invitedByUserId: payload.invited_by_user_id || undefined,
        }),
        password: payload.password,
      },
      call,
    )
    return createdUserResponse(required(user, 'user'))
  },
})

export const deleteUser = route({
  delete: ['/user/:userId'],
  operationId: 'deleteUser',
  section: 'Users',
  access: 'system',
  summary: 'Delete a user and revoke its keys',
  description: 'Deletes a user and revokes all its keys.',
  params: z.object({ userId: id('user') }),
  response: z.object({ user_id: schema.id('user'), deleted: z.literal(true) }),
  errorCodes: { last_system_user: 'The last system user cannot be deleted.' },
  async handle({ params }, { services, call }) {
    await services.users.deleteUser({ userId: params.userId }, call)
    return { user_id: params.userId, deleted: true as const }
  },
})

export const listUsers = route({
  get: ['/user'],
  operationId: 'listUsers',
  section: 'Users',
  access: 'super',
  summary: 'List the users of an organisation by id',
  description: 'Returns the users of one organisation, sorted by id.',
  query: z.object({ organisation_id: organisationIdField().optional(), ...pageQuery }),
  response: z.array(UserResponse),
  async handle({ query }, { caller, services, call, publicUrl }) {
    const organisationId = requiredOrganisation(caller, query.organisation_id)
    const { rows, nextCursor } = await collectRows({ ...query, maxPageSize: 500 }, async (page) => {
      const { users, nextPageToken } = await services.users.listUsers({ organisationId, ...page }, call)
      return { rows: users, nextPageToken }
    })
    const link = { start: query.start, limit: query.limit, nextCursor, query: { organisation_id: organisationId } }
    return new Reply(rows.map(userResponse), { headers: nextLink(publicUrl, '/user', link) })
  },
})

export const updateUser = route({
  patch: ['/user/:userId'],
  operationId: 'updateUser',
  section: 'Users',
  access: 'super',
  summary: 'Change a user',
  description:
    'Changes only the fields that are sent. A super user may change users of its own organisation. A caller cannot change its own ' +
    'type or status. A session that changes its own email address or password must be at most 5 minutes old.',
  params: z.object({ userId: id('user') }),
  payload: z.strictObject({
    first_name: personName('First name.', 'Ada').optional(),
    last_name: personName('Last name.', 'Byron').optional(),
    email: email.optional(),
    user_type: details.user_type.optional(),
    status: details.status.optional(),
    password: password.optional(),
    telephone_land: details.telephone_land.optional(),
  }),
  record: UserResponse,
  docs: { example: { first_name: 'Ada' } },
  response: UserResponse,
  errorCodes: {
    system_only: 'Only a system key may change system users, and make users system users.',
    own_rights: 'A caller cannot change its own type or status.',
    ...recentSignInCodes,
    email_taken: 'The email address is already in use.',
    password_not_allowed: 'An identity provider created the user, and decides how it signs in.',
    passwords_busy: 'Too many passwords are being checked or set. Retry after the time in `Retry-After`.',
    last_system_user: 'The last system user must keep its type and status.',
  },
  async handle({ params, payload }, { services, call }) {
    const updateMask = Object.keys(payload)
    if (updateMask.length === 0) throw invalid([{ field: 'payload', message: 'must have at least one field' }])
    const user = User.create({
      userId: params.userId,
      firstName: payload.first_name ?? '',
      lastName: payload.last_name ?? '',
      email: payload.email ?? '',
      userType: toUserType(payload.user_type),
      status: toUserStatus(payload.status),
      telephoneLand: payload.telephone_land ?? '',
    })
    const changed = await services.users.updateUser({ user, updateMask, password: payload.password }, call)
    return userResponse(required(changed.user, 'user'))
  },
})

export const userRoutes = [getUser, createUser, deleteUser, listUsers, updateUser]

function toUserType(word: (typeof userTypes)[number] | undefined): UserType {
  if (word === 'uploader') return UserType.USER_TYPE_UPLOADER
  if (word === 'standard') return UserType.USER_TYPE_STANDARD
  return word === 'system' ? UserType.USER_TYPE_SYSTEM : UserType.USER_TYPE_UNSPECIFIED
}

function toUserStatus(word: (typeof userStatuses)[number] | undefined): UserStatus {
  if (word === 'active') return UserStatus.USER_STATUS_ACTIVE
  return word === 'invited' ? UserStatus.USER_STATUS_INVITED : UserStatus.USER_STATUS_UNSPECIFIED
}
