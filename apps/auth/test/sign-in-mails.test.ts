import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createGrpcServer } from '@vitascope/grpc'
import { Organisation, OrganisationStatus } from '@vitascope/proto/auth/v1/organisation'
import { SignInLinkPurpose } from '@vitascope/proto/auth/v1/sign_in_link'
import { UserStatus, UserType } from '@vitascope/proto/auth/v1/user'
import { MailServiceService, type QueueSignInLinkRequest } from '@vitascope/proto/catalogue/v1/mail'
import { createMetrics } from '@vitascope/telemetry'
import { testLog, waitFor } from '@vitascope/testing'
import { testPrincipals } from '@vitascope/testing/principal-keys'
import { startAuth } from './auth-setup.ts'
import { as, by, service, withIdempotency } from './test-auth.ts'

const PASSWORD = 'correct horse battery'
const catalogue = createGrpcServer({ principals: testPrincipals(), log: testLog, metrics: createMetrics('catalogue') })
const queued: QueueSignInLinkRequest[] = []
catalogue.implement(MailServiceService, {
  async queueSignInLink(request) {
    queued.push(request)
    return {}
  },
})
let setup: Awaited<ReturnType<typeof startAuth>>
beforeAll(async () => {
  setup = await startAuth({ catalogueAddress: await catalogue.listen('127.0.0.1:0') })
}, 60_000)
afterAll(async () => {
  await setup.close()
  await catalogue.drain(0)
})

const guest = () => by({ kind: 'guest' })
const invite = (userId: string, call = setup.standard()) => setup.auth.signInLinks.createInvitation({ userId }, call)
const requestReset = (email: string) => setup.auth.signInLinks.requestPasswordReset({ email }, guest())
const issue = (signInLinkId: string) => setup.auth.signInLinks.issueSignInLink({ signInLinkId }, service())
const use = (secret: string, password = PASSWORD) =>
  setup.auth.signInLinks.useSignInLink({ secret, password, address: '', userAgent: '' }, guest())
const signIn = (email: string, password = PASSWORD) =>
  setup.auth.sessions.createSession({ email, password, address: '', userAgent: '' }, guest())
const mailsTo = (userId: string) => queued.filter((mail) => mail.userId === userId)
const waitForMail = (userId: string) => waitFor(() => mailsTo(userId).at(-1), { timeout: 10_000, describe: 'the mail to be queued' })
/** Waits until every message of the outbox was handled. */
const waitForOutbox = () =>
  waitFor(
    async () => (await setup.database.db.query(`select from outbox where topic in ('password_reset', 'sign_in_link_mail')`)).length === 0,
    {
      timeout: 10_000,
      describe: 'an empty outbox',
    },
  )
const hoursUntil = (time: Date | undefined) => ((time?.getTime() ?? 0) - Date.now()) / 3_600_000

describe('an invitation', () => {
  test('lets an invited user choose a password within 7 days', async () => {
    const { userId, email } = await setup.createUser()
    expect(await invite(userId, withIdempotency(setup.standard(), 'b'))).toEqual({ email })
    const { signInLinkId, organisationId } = await waitForMail(userId)
    expect(organisationId).toBe(setup.org.one)
    const link = await issue(signInLinkId)
    expect(link).toMatchObject({ email, name: 'Ann Lee', purpose: SignInLinkPurpose.SIGN_IN_LINK_PURPOSE_INVITATION })
    expect(hoursUntil(link.expireTime)).toBeCloseTo(7 * 24, 1)
    const { user } = await use(link.secret)
    expect(user).toMatchObject({ userId, status: UserStatus.USER_STATUS_ACTIVE })
    await expect(signIn(email)).resolves.toBeDefined()
    await expect(invite(userId)).rejects.toMatchObject({ kind: 'failed_precondition', reason: 'USER_ACTIVE' })
    expect(await invite(userId, withIdempotency(setup.standard(), 'b'))).toEqual({ email })
    await expect(issue(signInLinkId)).rejects.toMatchObject({ reason: 'LINK_NOT_FOUND' })
  })

  test('is created once for each idempotency key, and at most 5 times an hour for a user', async () => {
    const { userId } = await setup.createUser()
    for (let i = 0; i < 3; i++) await invite(userId, withIdempotency(setup.standard(), 'a'))
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => invite(userId)))
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(4)
    await expect(invite(userId)).rejects.toMatchObject({ kind: 'exhausted', reason: 'TOO_MANY_LINKS', retryAfter: 3_600 })
    await waitForOutbox()
    expect(new Set(mailsTo(userId).map(({ signInLinkId }) => signInLinkId)).size).toBe(5)
    await setup.database.db.query(`update sign_in_link set create_time = create_time - interval '1 hour' where user_id = $1`, [userId])
    await expect(invite(userId)).resolves.toBeDefined()
  })

  test('is created by super users for users of their organisation, and by system users', async () => {
    const { userId } = await setup.createUser()
    await expect(invite(userId, setup.uploader())).rejects.toMatchObject({ reason: 'SUPER_USER_ONLY' })
    await expect(invite(userId, guest())).rejects.toMatchObject({ reason: 'KEY_REQUIRED' })
    for (const id of [userId, '999999', 'x', ''])
      await expect(invite(id, as('standard', setup.org.two, setup.users.foreign))).rejects.toMatchObject({ reason: 'USER_NOT_FOUND' })
    await expect(invite(userId, setup.system)).resolves.toBeDefined()
    const system = await setup.createUser({ userType: UserType.USER_TYPE_SYSTEM })
    await expect(invite(system.userId)).rejects.toMatchObject({ reason: 'SYSTEM_ONLY' })
    await expect(invite(system.userId, setup.system)).resolves.toBeDefined()
  })
})

describe('a request for a new password', () => {
  test('sends a link that is valid for an hour, and whose use ends all sessions', async () => {
    const { userId, email } = await setup.createUser({}, PASSWORD)
    const { value } = await signIn(email)
    await requestReset(` ${email.toUpperCase()} `)
    const link = await issue((await waitForMail(userId)).signInLinkId)
    expect(link.purpose).toBe(SignInLinkPurpose.SIGN_IN_LINK_PURPOSE_PASSWORD_RESET)
    expect(hoursUntil(link.expireTime)).toBeCloseTo(1, 1)
    await expect(setup.authenticate(value)).resolves.toMatchObject({ userId })
    const next = await use(link.secret, 'another long password')
    await expect(setup.authenticate(value)).rejects.toMatchObject({ kind: 'unauthenticated' })
    await expect(setup.authenticate(next.value)).resolves.toMatchObject({ userId })
    await expect(signIn(email)).rejects.toMatchObject({ reason: 'SIGN_IN_FAILED' })
    await expect(use(link.secret)).rejects.toMatchObject({ reason: 'LINK_INVALID' })
  })

  test('has the same response and writes for an address that cannot reset a password, and sends it no mail', async () => {
    const { db } = setup.database
    const invited = await setup.createUser()
    const organisationId = await setup.createOrganisation('Inactive')
    const inactive = await setup.createUser({ organisationId }, PASSWORD)
    const organisation = Organisation.fromPartial({ organisationId, status: OrganisationStatus.ORGANISATION_STATUS_INACTIVE })
    await setup.auth.organisations.updateOrganisation({ organisation, updateMask: ['status'] }, setup.system)
    const active = await setup.createUser({}, PASSWORD)
    const provisioned = await setup.createUser({ status: UserStatus.USER_STATUS_ACTIVE })
    await db.query(`insert into oidc_identity (issuer, subject, user_id, is_provisioned) values ('issuer', 'one', $1, true)`, [
      provisioned.userId,
    ])
    // Messages stay in the outbox until the test has compared them.
    await db.query(`create function delay_outbox() returns trigger language plpgsql as
      $$ begin new.next_time = now() + interval '1 hour'; return new; end $$`)
    await db.query('create trigger delay_outbox before insert on outbox for each row execute function delay_outbox()')
    const before = queued.length
    const others = [invited.email, inactive.email, provisioned.email, 'no-one@example.org', 'not an address']
    for (const email of [active.email, ...others]) expect(await requestReset(email)).toEqual({})
    const rows = await db.query<{ payload: object }>(`select payload from outbox where topic = 'password_reset'`)
    expect(rows.map(({ payload }) => Object.keys(payload).toSorted())).toEqual(Array.from({ length: 6 }, () => ['email', 'signInLinkId']))
    await db.query('drop function delay_outbox cascade')
    await db.query('update outbox set next_time = now()')
    await waitForOutbox()
    expect(queued.slice(before).map(({ userId }) => userId)).toEqual([active.userId])
  })

  test('sends at most 5 links an hour to a user', async () => {
    const { userId, email } = await setup.createUser({}, PASSWORD)
    for (let i = 0; i < 8; i++) await requestReset(email)
    await waitForOutbox()
    expect(mailsTo(userId)).toHaveLength(5)
  })

  test.each(['', 'x'.repeat(255), 'a\0b'])('of the address %j is rejected', async (email) => {
    await expect(requestReset(email)).rejects.toMatchObject({ reason: 'INVALID_INPUT' })
  })
})

describe('the secret of a link', () => {
  test('is created for services only, and only when the mail is sent', async () => {
    const { userId } = await setup.createUser()
    await invite(userId)
    const { signInLinkId } = await waitForMail(userId)
    const read = async () =>
      (
        await setup.database.db.query<{ secret_hash: Buffer | null }>('select secret_hash from sign_in_link where user_id = $1', [userId])
      )[0]
    expect(await read()).toEqual({ secret_hash: null })
    for (const call of [guest(), setup.standard(), setup.system])
      await expect(setup.auth.signInLinks.issueSignInLink({ signInLinkId }, call)).rejects.toMatchObject({ reason: 'SERVICE_ONLY' })
    const { secret } = await issue(signInLinkId)
    expect(secret).toMatch(/^[\w-]{43}$/)
    expect((await read())?.secret_hash).toHaveLength(32)
    // A repeated attempt to send the mail replaces the secret.
    const repeated = await issue(signInLinkId)
    await expect(use(secret)).rejects.toMatchObject({ reason: 'LINK_INVALID' })
    await expect(use(repeated.secret)).resolves.toBeDefined()
  })

  test('is not created for a link that expired before its mail was sent, or for an unknown link', async () => {
    const { userId } = await setup.createUser()
    await invite(userId)
    const { signInLinkId } = await waitForMail(userId)
    await setup.database.db.query('update sign_in_link set expire_time = now() where user_id = $1', [userId])
    for (const id of [signInLinkId, crypto.randomUUID(), 'x', ''])
      await expect(issue(id)).rejects.toMatchObject({ kind: 'not_found', reason: 'LINK_NOT_FOUND' })
  })
})
