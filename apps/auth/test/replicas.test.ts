// Faults: A11
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { createGrpcServer, openChannel } from '@vitascope/grpc'
import { ApiKeyServiceService } from '@vitascope/proto/auth/v1/api_key'
import { Organisation, OrganisationStatus } from '@vitascope/proto/auth/v1/organisation'
import { User, UserType } from '@vitascope/proto/auth/v1/user'
import { type ApplyOrganisationRequest, OrganisationReplicaServiceService } from '@vitascope/proto/catalogue/v1/organisation_replica'
import { createMetrics } from '@vitascope/telemetry'
import { freePort, startFaultProxy, testLog, waitFor } from '@vitascope/testing'
import { testPrincipals } from '@vitascope/testing/principal-keys'
import { as, openTestDatabase, SYSTEM_KEY, service, startTestAuth, type TestAuth, type TestDatabase } from './test-auth.ts'

const system = as('system')
let database: TestDatabase
let replicas: TestAuth[] = []
beforeAll(async () => {
  database = await openTestDatabase()
})
afterEach(async () => {
  await Promise.all(replicas.map((replica) => replica.stop()))
  replicas = []
})
afterAll(() => database.drop())

async function start(more: Parameters<typeof startTestAuth>[1] = {}): Promise<TestAuth> {
  const replica = await startTestAuth(database.url, more)
  replicas.push(replica)
  return replica
}

let count = 0
async function createOrganisationWithKey({ organisations, users, apiKeys }: TestAuth) {
  const organisationId = (await organisations.createOrganisation({ name: 'One' }, system)).organisation?.organisationId ?? ''
  const user = User.fromPartial({ organisationId, firstName: 'A', lastName: 'B', email: `r${++count}@example.org` })
  const userId = (await users.createUser({ user }, system)).user?.userId ?? ''
  const key = (await apiKeys.createApiKey({ userId, applicationName: 'x', resources: [], expireTime: undefined }, system)).apiKey
  return { organisationId, userId, key: key?.value ?? '', apiKeyId: key?.apiKeyId ?? '' }
}

test('every replica is notified of any change of a key', async () => {
  const [first, second] = [await start(), await start()]
  const controller = new AbortController()
  const received = [first, second].map(({ apiKeys }) => {
    const ids: string[][] = []
    const ended = (async () => {
      for await (const { apiKeyIds } of apiKeys.watchRevocations({}, { ...service(), signal: controller.signal })) ids.push(apiKeyIds)
    })().catch(() => undefined)
    return { ids, ended }
  })
  await waitFor(() => received.every(({ ids }) => ids.length === 1))
  expect(received.map(({ ids }) => ids)).toEqual([[[]], [[]]])

  const { organisationId, userId, key, apiKeyId } = await createOrganisationWithKey(first)
  const [systemKeyId] = (await first.apiKeys.getApiKey({ key: SYSTEM_KEY }, system)).apiKey?.apiKeyId ?? ''
  const set = (status: OrganisationStatus) =>
    first.organisations.updateOrganisation(
      { organisation: Organisation.fromPartial({ organisationId, status }), updateMask: ['status'] },
      system,
    )
  const user = User.fromPartial({ userId, userType: UserType.USER_TYPE_STANDARD })
  let value = key
  const changes: [string, () => Promise<unknown>][] = [
    [apiKeyId, () => set(OrganisationStatus.ORGANISATION_STATUS_INACTIVE)],
    [apiKeyId, () => set(OrganisationStatus.ORGANISATION_STATUS_ACTIVE)],
    [apiKeyId, () => second.users.updateUser({ user, updateMask: ['user_type'] }, system)],
    [
      apiKeyId,
      async () => {
        value = (await second.apiKeys.regenerateApiKey({ key: value }, system)).apiKey?.value ?? ''
      },
    ],
    [apiKeyId, () => first.apiKeys.revokeApiKey({ key: value }, system)],
    [apiKeyId, () => second.users.deleteUser({ userId }, system)],
    [
      systemKeyId ?? '',
      () => first.accessList.registerResources({ resources: [{ aclId: 0, name: 'x::get', openToUsers: true }] }, service()),
    ],
  ]
  for (const [id, change] of changes) {
    for (const { ids } of received) ids.length = 0
    await change()
    await waitFor(() => received.every(({ ids }) => ids.flat().includes(id)), {
      timeout: 10_000,
      describe: () => `${change} to be reported`,
    })
  }
  controller.abort()
  await Promise.all(received.map(({ ended }) => ended))
})

test('a replica that starts with a new system key revokes the old key on all replicas', async () => {
  const oldReplica = await start()
  const newKey = 'another-value-for-the-system-key'
  const newReplica = await start({ systemKey: { value: newKey, file: undefined } })
  expect(await newReplica.apiKeys.authenticate({ key: newKey }, service())).toMatchObject({ organisationId: '1' })
  await waitFor(() => oldReplica.apiKeys.authenticate({ key: newKey }, service()), { timeout: 10_000 })
  for (const { apiKeys } of replicas) {
    await expect(apiKeys.authenticate({ key: SYSTEM_KEY }, service())).rejects.toMatchObject({ kind: 'unauthenticated' })
  }
})

test('the catalogue receives every organisation, including those created while it was unavailable', async () => {
  const first = await start()
  const { organisationId } = await createOrganisationWithKey(first)
  const applied: ApplyOrganisationRequest[] = []
  const catalogue = createGrpcServer({ principals: testPrincipals(), log: testLog, metrics: createMetrics('test') })
  catalogue.implement(OrganisationReplicaServiceService, {
    async applyOrganisation(request) {
      applied.push(request)
      return {}
    },
  })
  const catalogueAddress = await catalogue.listen('127.0.0.1:0')
  await first.stop()
  replicas = []
  const second = await start({ catalogueAddress })
  const quota = { bytes: 2 ** 40, concurrentJobs: 0 }
  const organisation = Organisation.fromPartial({ organisationId, allowedIps: ['192.0.2.1'], defaultSettingId: '5', quota })
  await second.organisations.updateOrganisation({ organisation, updateMask: ['allowed_ips', 'default_setting_id', 'quota'] }, system)
  await waitFor(() => applied.some((request) => request.organisationId === organisationId && request.revision > 1))
  const revision = expect.any(Number)
  expect(applied.filter((request) => request.organisationId === organisationId)).toEqual([
    { organisationId, revision: 1, active: true, allowedIps: [], defaultSettingId: '', defaultThemeId: '', quota: {} },
    { organisationId, revision, active: true, allowedIps: ['192.0.2.1'], defaultSettingId: '5', defaultThemeId: '', quota },
  ])
  await waitFor(() => applied.some((request) => request.organisationId === '1' && request.active))
  await Promise.all(replicas.map((replica) => replica.stop()))
  replicas = []
  await catalogue.drain(100)
})

test('a replica that started without its database rejects requests as unavailable until it connects', async () => {
  const databaseUrl = new URL(database.url)
  const proxy = await startFaultProxy(databaseUrl.host)
  proxy.shouldDropResponse = () => true
  databaseUrl.host = proxy.address
  const listen = `127.0.0.1:${await freePort()}`
  const starting = startTestAuth(databaseUrl.href, { listen })
  const channel = openChannel(listen, { service: 'auth', principals: testPrincipals() })
  try {
    const apiKeys = channel.client(ApiKeyServiceService)
    const call = () => apiKeys.authenticate({ key: SYSTEM_KEY }, service()).then(({ apiKeyId }) => apiKeyId)
    await waitFor(() => proxy.lost() > 2)
    for (let n = 0; n < 20; n++) await expect(call()).rejects.toMatchObject({ kind: 'unavailable' })
    proxy.shouldDropResponse = () => false
    replicas.push(await starting)
    expect(await call()).toMatch(/^\d+$/)
  } finally {
    channel.close()
    await proxy.close()
  }
})
