import { invalid } from '@vitascope/errors'
import { User, UserStatus, UserType } from '@vitascope/proto/auth/v1/user'
import { z } from 'zod'
import { id, idOrNone, oneOf, organisationIdField, pathPart, text } from '../fields.ts'
import { namedOrganisation, requiredOrganisation } from '../organisation-rule.ts'
import { collectRows, nextLink, pageQuery } from '../pages.ts'
import { given, shown } from '../public-form.ts'
import { Reply, route } from '../route.ts'
import { CreatedUser, createdUserView, UserRecord, userStatuses, userTypes, userView } from './user-view.ts'

const personName = (description: string, example: string) => text(100, { min: 1 }, { description, example })
const email = text(
  254,
  { min: 3, pattern: /^[^\s@]+@[^\s@]+$/, message: 'must be an email address' },
  { description: 'Unique without regard to case.', example: 'ada@example.org' },
)
const password = text(128, { min: 8 }, { description: 'Kept as argon2id, never shown.', format: 'password' })

const details = {
  user_type: oneOf(userTypes, { description: 'What the user may do; only a system key gives out `system`.' }),
  status: oneOf(userStatuses, { description: 'An invited user becomes active with the first use of a key.' }),
  telephone_land: text(50, {}, { description: 'Telephone.' }),
}

export const getUser = route({
  get: ['/user/:email'],
  section: 'Users',
  access: 'system',
  summary: 'Read the user of an email address',
  params: z.object({ email: pathPart({ description: 'In any case.', example: 'ada@example.org' }) }),
  answer: UserRecord,
  async handle({ params }, { services, call }) {
    const { user } = await services.users.getUserByEmail({ email: params.email }, call)
    return userView(given(user, 'user'))
  },
})

export const createUser = route({
  post: ['/user'],
  section: 'Users',
  access: 'super',
  summary: 'Create a user',
  description:
    'A super user creates users of its own organisation, never `system` ones. With a password, or with `status` active, the user is active, else invited.',
  payload: z.strictObject({
    organisation_id: organisationIdField(),
    first_name: personName('First name.', 'Ada'),
    last_name: personName('Last name.', 'Byron'),
    email,
    user_type: details.user_type.default('uploader'),
    status: details.status.optional(),
    password: password.optional(),
    invited_by_user_id: idOrNone('inviting user, which counts with a system key; else it is the caller').optional(),
    telephone_land: details.telephone_land.default(''),
  }),
  answer: CreatedUser,
  refusals: { email_taken: 'another user has this email address', system_only: 'only a system key creates system users' },
  async handle({ payload }, { caller, services, call }) {
    const { user } = await services.users.createUser(
      {
        user: User.create({
          organisationId: namedOrganisation(caller, payload.organisation_id),
          firstName: payload.first_name,
          lastName: payload.last_name,
          email: payload.email,
          userType: typeFrom(payload.user_type),
          status: statusFrom(payload.status),
          telephoneLand: payload.telephone_land,
          invitedByUserId: payload.invited_by_user_id || undefined,
        }),
        password: payload.password,
      },
      call,
    )
    return createdUserView(given(user, 'user'))
  },
})

export const deleteUser = route({
  delete: ['/user/:userId'],
  section: 'Users',
  access: 'system',
  summary: 'Delete a user and revoke its keys',
  params: z.object({ userId: id('user') }),
  answer: z.object({ user_id: shown.id('user'), deleted: z.literal(true) }),
  refusals: { last_system_user: 'the last system user cannot be deleted' },
  async handle({ params }, { services, call }) {
    await services.users.deleteUser({ userId: params.userId }, call)
    return { user_id: params.userId, deleted: true as const }
  },
})

export const listUsers = route({
  get: ['/user'],
  section: 'Added',
  access: 'super',
  summary: 'List the users of an organisation by id',
  query: z.object({ organisation_id: organisationIdField().optional(), ...pageQuery }),
  answer: z.array(UserRecord),
  async handle({ query }, { caller, services, call, publicUrl }) {
    const organisationId = requiredOrganisation(caller, query.organisation_id)
    const { rows, more } = await collectRows({ ...query, part: 500 }, async (page) => {
      const { users, nextPageToken } = await services.users.listUsers({ organisationId, ...page }, call)
      return { rows: users, nextPageToken }
    })
    const link = { start: query.start, limit: query.limit, more, query: { organisation_id: organisationId } }
    return new Reply(rows.map(userView), { headers: nextLink(publicUrl, '/user', link) })
  },
})

export const updateUser = route({
  patch: ['/user/:userId'],
  section: 'Added',
  access: 'super',
  summary: 'Change a user',
  description: 'Takes any of the fields. A super user changes users of its own organisation, and nobody changes its own type or status.',
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
  answer: UserRecord,
  refusals: {
    own_rights: 'a caller does not change its own type or status',
    email_taken: 'another user has this email address',
    last_system_user: 'the last system user stays one',
  },
  async handle({ params, payload }, { services, call }) {
    const updateMask = Object.keys(payload)
    if (updateMask.length === 0) throw invalid([{ field: 'payload', message: 'must have at least one field' }])
    const user = User.create({
      userId: params.userId,
      firstName: payload.first_name ?? '',
      lastName: payload.last_name ?? '',
      email: payload.email ?? '',
      userType: typeFrom(payload.user_type),
      status: statusFrom(payload.status),
      telephoneLand: payload.telephone_land ?? '',
    })
    const changed = await services.users.updateUser({ user, updateMask, password: payload.password }, call)
    return userView(given(changed.user, 'user'))
  },
})

export const userRoutes = [getUser, createUser, deleteUser, listUsers, updateUser]

function typeFrom(word: (typeof userTypes)[number] | undefined): UserType {
  if (word === 'uploader') return UserType.USER_TYPE_UPLOADER
  if (word === 'standard') return UserType.USER_TYPE_STANDARD
  return word === 'system' ? UserType.USER_TYPE_SYSTEM : UserType.USER_TYPE_UNSPECIFIED
}

function statusFrom(word: (typeof userStatuses)[number] | undefined): UserStatus {
  if (word === 'active') return UserStatus.USER_STATUS_ACTIVE
  return word === 'invited' ? UserStatus.USER_STATUS_INVITED : UserStatus.USER_STATUS_UNSPECIFIED
}
