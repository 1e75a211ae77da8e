import { DomainError, type FieldError, invalid, notFound, requireValid } from '@vitascope/errors'
import type { Call, Principal, UserKind } from '@vitascope/grpc'
import { isSystem, requireAuthenticated, requireService, requireSystem, systemOnly } from '@vitascope/principal'
import { checkEmail, checkText, isId, isStorable, type PagePosition } from '@vitascope/request'
import { type OrganisationScope, requireOwnOrganisation, requireSuperUser } from '../rules/caller.ts'
import type { HashPassword } from './password.ts'

export type UserStatus = 'invited' | 'active'

/** The changeable fields of a user. */
export interface UserDetails {
  firstName: string
  lastName: string
  email: string
  userType: UserKind
  status: UserStatus
  telephoneLand: string
}

export interface User extends UserDetails {
  userId: string
  organisationId: string
  invitedByUserId: string | undefined
  createTime: Date
  updateTime: Date
}

export interface NewUser extends UserDetails {
  organisationId: string
  invitedByUserId: string | undefined
  passwordHash: string | undefined
}

export type UserChange = Partial<UserDetails> & { passwordHash?: string }

export interface UserStore {
  find(key: { userId: string; scope: OrganisationScope }, signal: AbortSignal): Promise<User | undefined>
  findByEmail(email: string, signal: AbortSignal): Promise<User | undefined>
  /** Returns the users that exist. */
  findAll(userIds: readonly string[], signal: AbortSignal): Promise<User[]>
  /** Returns undefined if the organisation does not exist. */
  list(organisationId: string, page: PagePosition, signal: AbortSignal): Promise<User[] | undefined>
  /** Stores a user. Throws EMAIL_TAKEN and ORGANISATION_NOT_FOUND. */
  create(user: NewUser, call: Call): Promise<User>
  /** Returns whether a sign-in at an identity provider created the user. The provider then decides how it signs in. */
  isProvisioned(userId: string, signal: AbortSignal): Promise<boolean>
  /**
   * Changes a user. `checkAllowed` receives the locked user and throws if the change is forbidden. A new password ends all
   * sessions of the user except `keptSessionId`. Returns undefined if the user does not exist. Throws EMAIL_TAKEN and
   * LAST_SYSTEM_USER.
   */
  update(
    key: { userId: string; scope: OrganisationScope; keptSessionId?: string },
    change: UserChange,
    checkAllowed: (user: User) => void,
    signal: AbortSignal,
  ): Promise<User | undefined>
  /** Deletes a user with its keys. Returns false if there is no such user. Throws LAST_SYSTEM_USER. */
  delete(userId: string, signal: AbortSignal): Promise<boolean>
}

/** An enum value in a request: undefined if it is missing, 'unknown' if it is invalid. */
export type Choice<Kind extends string> = Kind | 'unknown' | undefined

/** Returns the scope in which a caller may read users. */
function visibleScope(caller: Principal): OrganisationScope {
  requireAuthenticated(caller)
  return isSystem(caller) || caller.kind !== 'user' ? undefined : caller.organisationId
}

export async function getUser(users: UserStore, userId: string, { principal, signal }: Call): Promise<User> {
  const scope = visibleScope(principal)
  // An uploader can only read its own user.
  const isHidden = principal.kind === 'user' && principal.userType === 'uploader' && principal.userId !== userId
  const user = isId(userId) && !isHidden ? await users.find({ userId, scope }, signal) : undefined
  if (!user) throw notFound('user', userId)
  return user
}

export async function getUserByEmail(users: UserStore, email: string, { principal, signal }: Call): Promise<User> {
  requireSystem(principal)
  const user = isStorable(email) ? await users.findByEmail(email.trim(), signal) : undefined
  if (!user) throw new DomainError('not_found', 'USER_NOT_FOUND', 'no user with this email address')
  return user
}

/** Maximum number of users per request of another service. */
const MAX_SUMMARIES = 1_000

export async function listUserSummaries(users: UserStore, userIds: readonly string[], { principal, signal }: Call): Promise<User[]> {
  requireService(principal)
  if (userIds.length > MAX_SUMMARIES) throw invalid([{ field: 'user_ids', message: `must have at most ${MAX_SUMMARIES} items` }])
  return users.findAll([...new Set(userIds.filter(isId))], signal)
}

export async function listUsers(
  users: UserStore,
  organisationId: string,
  page: PagePosition,
  { principal, signal }: Call,
): Promise<User[]> {
  requireOwnOrganisation(requireSuperUser(principal), organisationId)
  const organisationUsers = isId(organisationId) ? await users.list(organisationId, page, signal) : undefined
  if (!organisationUsers) throw notFound('organisation', organisationId)
  return organisationUsers
}

export interface UserInput {
  organisationId: string
  firstName: string
  lastName: string
  email: string
  userType: Choice<UserKind>
  status: Choice<UserStatus>
  telephoneLand: string
  invitedByUserId: string | undefined
  password: string | undefined
}

export async function createUser(users: UserStore, hashPassword: HashPassword, input: UserInput, call: Call): Promise<User> {
  const { principal, signal } = call
  const scope = requireSuperUser(principal)
  if (input.organisationId !== '') requireOwnOrganisation(scope, input.organisationId)
  if (scope !== undefined && input.userType === 'system') throw systemOnly()

  const email = input.email.trim()
  const inviter = scope === undefined ? input.invitedByUserId || undefined : undefined
  const isInviterKnown = inviter === undefined || (isId(inviter) && (await users.find({ userId: inviter, scope }, signal)) !== undefined)
  requireValid([
    ...(input.organisationId === '' ? [{ field: 'organisation_id', message: 'is required' }] : []),
    ...checkDetails({ ...input, email }),
    ...checkPassword(input.password),
    ...(isInviterKnown ? [] : [{ field: 'invited_by_user_id', message: 'must be the id of a user' }]),
  ])
  if (!isId(input.organisationId)) throw notFound('organisation', input.organisationId)

  const caller = principal.kind === 'user' ? principal.userId : undefined
  return users.create(
    {
      organisationId: input.organisationId,
      firstName: input.firstName,
      lastName: input.lastName,
      email,
      userType: toValidChoice(input.userType) ?? 'uploader',
      status: input.password !== undefined || input.status === 'active' ? 'active' : 'invited',
      telephoneLand: input.telephoneLand,
      invitedByUserId: inviter ?? caller,
      passwordHash: input.password === undefined ? undefined : await hashPassword(input.password, signal),
    },
    call,
  )
}

export interface UserChangeInput {
  firstName?: string
  lastName?: string
  email?: string
  userType?: NonNullable<Choice<UserKind>>
  status?: NonNullable<Choice<UserStatus>>
  telephoneLand?: string
  password?: string
}

/** Checks of a change of a user, and the hash of its password. */
export interface UserChangeSteps {
  hashPassword: HashPassword
  /** Throws RECENT_SIGN_IN_REQUIRED if the session of the caller is too old to change how its user signs in. */
  requireRecentSignIn: (call: Pick<Call, 'principal' | 'signal'>) => Promise<void>
}

export async function updateUser(
  users: UserStore,
  { hashPassword, requireRecentSignIn }: UserChangeSteps,
  { userId, input }: { userId: string; input: UserChangeInput },
  { principal, signal }: Call,
): Promise<User> {
  const scope = requireSuperUser(principal)
  const user = isId(userId) ? await users.find({ userId, scope }, signal) : undefined
  if (!user) throw notFound('user', userId)
  const isOwn = principal.kind === 'user' && principal.userId === userId
  if (isOwn && (input.userType !== undefined || input.status !== undefined)) {
    throw new DomainError('forbidden', 'OWN_RIGHTS', 'a user cannot change its own type or status')
  }
  if (isOwn && (input.password !== undefined || input.email !== undefined)) await requireRecentSignIn({ principal, signal })
  const checkAllowed = (user: User) => {
    if (scope !== undefined && (user.userType === 'system' || input.userType === 'system')) throw systemOnly()
  }
  checkAllowed(user)
  if (input.password !== undefined && (await users.isProvisioned(userId, signal))) throw passwordNotAllowed()

  const { password, userType, status, ...texts } = input
  const change: UserChange = { ...texts, ...(texts.email !== undefined && { email: texts.email.trim() }) }
  requireValid([...checkDetails({ ...change, ...(userType && { userType }), ...(status && { status }) }), ...checkPassword(password)])
  if (Object.keys(input).length === 0) return user

  const kind = toValidChoice(userType)
  const state = toValidChoice(status)
  if (kind) change.userType = kind
  if (state) change.status = state
  if (password !== undefined) {
    change.passwordHash = await hashPassword(password, signal)
    change.status = 'active'
  }
  const updated = await users.update({ userId, scope }, change, checkAllowed, signal)
  if (!updated) throw notFound('user', userId)
  return updated
}

export async function deleteUser(users: UserStore, userId: string, { principal, signal }: Call): Promise<void> {
  requireSystem(principal)
  if (!isId(userId) || !(await users.delete(userId, signal))) throw notFound('user', userId)
}

type CheckedDetails = Partial<Record<Exclude<keyof UserDetails, 'userType' | 'status'>, string>> & {
  userType?: Choice<UserKind>
  status?: Choice<UserStatus>
}

export function checkDetails({ firstName, lastName, email, telephoneLand, userType, status }: CheckedDetails): FieldError[] {
  return [
    ...(firstName === undefined ? [] : checkText('first_name', firstName, { max: 100, blank: false })),
    ...(lastName === undefined ? [] : checkText('last_name', lastName, { max: 100, blank: false })),
    ...(email === undefined ? [] : checkEmail('email', email)),
    ...(telephoneLand === undefined ? [] : checkText('telephone_land', telephoneLand, { max: 50 })),
    ...(userType === 'unknown' ? [{ field: 'user_type', message: 'must be uploader, standard or system' }] : []),
    ...(status === 'unknown' ? [{ field: 'status', message: 'must be invited or active' }] : []),
  ]
}

export function checkPassword(password: string | undefined): FieldError[] {
  return password === undefined ? [] : checkText('password', password, { min: 8, max: 128 })
}

/** Error of a new password for a user that a sign-in at an identity provider created. */
export function passwordNotAllowed(): DomainError {
  return new DomainError(
    'failed_precondition',
    'PASSWORD_NOT_ALLOWED',
    'an identity provider decides how this user signs in; change the password there',
  )
}

function toValidChoice<Kind extends string>(choice: Choice<Kind>): Kind | undefined {
  return choice === undefined || choice === 'unknown' ? undefined : (choice as Kind)
}
