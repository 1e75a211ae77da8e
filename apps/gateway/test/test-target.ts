import { waitFor } from '@vitascope/testing'
import type { Route } from '../src/server/route/route.ts'
import { nextApiKey, startOrigin, startStandIns } from './stand-ins.ts'
import { startTestGateway, withKey } from './started-gateway.ts'

/** Target of the generated tests: a gateway, and keys of every kind. */
export interface TestTarget {
  url: string
  keys: {
    /** Key of a system user with every resource of the route table. */
    system: string
    /** Key of an organisation's super user, with every resource that this type may hold. */
    standard: string
    /** Key of an uploader of the same organisation, with every resource that this type may hold. */
    uploader: string
    /** Key of a system user without resources. */
    withoutResources: string
  }
  stop(): Promise<void>
}

/**
 * Returns the platform at VITASCOPE_TEST_URL if it is set (with its system key in
 * VITASCOPE_SYSTEM_KEY, and VITASCOPE_LIMITS off). Otherwise starts a gateway with fake services.
 */
export function openTestTarget(routes: readonly Route[]): Promise<TestTarget> {
  const url = process.env['VITASCOPE_TEST_URL']
  return url === undefined ? withStandIns(routes) : withPlatform(url, process.env['VITASCOPE_SYSTEM_KEY'] ?? '')
}

async function withStandIns(routes: readonly Route[]): Promise<TestTarget> {
  const standIns = await startStandIns()
  const delivery = await startOrigin((_request, response) => response.end())
  const { address } = standIns
  const gateway = await startTestGateway(routes, {
    authAddress: address,
    catalogueAddress: address,
    encodingAddress: address,
    collaborationAddress: address,
    analyticsAddress: address,
    deliveryUrl: delivery.url,
  })
  const resources = routes.map(({ resource }) => resource)
  const keys = { system: nextApiKey(), standard: nextApiKey(), uploader: nextApiKey(), withoutResources: nextApiKey() }
  const organisationKey = { organisationId: '2', resources }
  standIns.keys.set(keys.system, { ...organisationKey, keyId: '1', userType: 'system', organisationId: '1' })
  standIns.keys.set(keys.standard, { ...organisationKey, keyId: '2', userType: 'standard' })
  standIns.keys.set(keys.uploader, { ...organisationKey, keyId: '3', userType: 'uploader' })
  standIns.keys.set(keys.withoutResources, { ...organisationKey, keyId: '4', userType: 'system', organisationId: '1', resources: [] })
  await waitFor(async () => (await fetch(`${gateway.url}/readyz`)).ok, { describe: 'the gateway to be ready' })
  return {
    url: gateway.url,
    keys,
    async stop() {
      await gateway.stop()
      await standIns.stop()
      await delivery.stop()
    },
  }
}

async function withPlatform(url: string, system: string): Promise<TestTarget> {
  const call = async <Body>(path: string, payload?: object): Promise<Body> => {
    const headers = { ...withKey(system), 'content-type': 'application/json' }
    const response = await fetch(`${url}/v2${path}`, payload ? { method: 'POST', headers, body: JSON.stringify(payload) } : { headers })
    if (!response.ok) throw new Error(`${path} returned status ${response.status}: ${await response.text()}`)
    return (await response.json()) as Body
  }
  const list = Object.values(await call<Record<string, { resource: string; levels: string[] }>>('/apikey/acl-list'))
  const userResources = list.filter(({ levels }) => levels.includes('user')).map(({ resource }) => resource)
  const all = list.map(({ resource }) => resource)
  const organisation = await call<{ organisation_id: string }>('/organisation', { name: 'Generated tests' })
  const createKey = async (userType: string, resources: string[]) => {
    const email = `${userType}-${Date.now()}-${Math.random().toString(36).slice(2)}@example.org`
    const organisationId = userType === 'system' ? '1' : organisation.organisation_id
    const user = {
      organisation_id: organisationId,
      first_name: 'Generated',
      last_name: 'Test',
      email,
      user_type: userType,
      status: 'active',
    }
    const { user_id } = await call<{ user_id: string }>('/user', user)
    const { key } = await call<{ key: string }>(`/apikey/${user_id}/generate`, {
      application_name: 'tests',
      resources: JSON.stringify(resources),
    })
    return key
  }
  const keys = {
    system,
    standard: await createKey('standard', all),
    uploader: await createKey('uploader', userResources),
    withoutResources: await createKey('system', []),
  }
  return { url, keys, stop: async () => {} }
}
