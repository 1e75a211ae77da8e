import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import { acceptObject, type RecordedRequest, type StandInResponse, startStandIn } from '../test/recording-store.ts'
import { createUrlSigner } from './presigned-url.ts'
import { openS3Storage } from './s3-client.ts'
import { isStorageFailure } from './storage-failure.ts'

const ROLE = 'arn:aws:iam::123456789012:role/videos'
const VARIABLES = ['AWS_ROLE_ARN', 'AWS_WEB_IDENTITY_TOKEN_FILE', 'AWS_ENDPOINT_URL_STS', 'AWS_CONTAINER_CREDENTIALS_FULL_URI'] as const
const FILE = Buffer.from('a file')

const folder = mkdtempSync(join(tmpdir(), 'vitascope-identity-'))
const tokenFile = join(folder, 'token')
let store: Awaited<ReturnType<typeof startStandIn>>
let sts: Awaited<ReturnType<typeof startStandIn>>
let respondAsSts: (request: RecordedRequest) => StandInResponse
let issued = 0

/** Response of the token service with new credentials that expire after some seconds. */
function issue(seconds: number): StandInResponse {
  const nth = ++issued
  const expiration = new Date(Date.now() + seconds * 1_000).toISOString()
  return {
    status: 200,
    headers: { 'content-type': 'text/xml' },
    body: `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult>
<Credentials><AccessKeyId>temporary-${nth}</AccessKeyId><SecretAccessKey>secret-${nth}</SecretAccessKey>
<SessionToken>session-${nth}</SessionToken><Expiration>${expiration}</Expiration></Credentials>
</AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`,
  }
}

const reject = (status: number, code: string): StandInResponse => ({
  status,
  headers: { 'content-type': 'text/xml' },
  body: `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>account 123456789012 is secret</Message></Error></ErrorResponse>`,
})

beforeAll(async () => {
  store = await startStandIn(acceptObject)
})
beforeEach(async () => {
  issued = 0
  store.requests.length = 0
  // A service for each test, because credentials are also requested in the background.
  sts = await startStandIn((request) => respondAsSts(request))
  respondAsSts = () => issue(3_600)
  writeFileSync(tokenFile, 'first-token')
  process.env['AWS_ROLE_ARN'] = ROLE
  process.env['AWS_WEB_IDENTITY_TOKEN_FILE'] = tokenFile
  process.env['AWS_ENDPOINT_URL_STS'] = sts.url
  process.env['AWS_EC2_METADATA_DISABLED'] = 'true'
})
afterEach(async () => {
  await sts?.stop()
  for (const name of [...VARIABLES, 'AWS_EC2_METADATA_DISABLED']) delete process.env[name]
})
afterAll(async () => {
  await store?.stop()
  rmSync(folder, { recursive: true })
})

const bucket = () => ({ endpoint: store.url, region: 'eu-central-1', bucket: 'videos' })
/** Returns the key id and the session token of the last request to the store. */
const lastCredentials = () => {
  const headers = store.requests.at(-1)?.headers
  return [/Credential=([^/]+)\//.exec(headers?.authorization ?? '')?.[1], headers?.['x-amz-security-token']]
}

test('without keys, requests are signed by credentials that the token service issues for the token of the pod', async () => {
  const storage = openS3Storage(bucket())
  await Promise.all(['media/1', 'media/2', 'media/3'].map((name) => storage.put(name, FILE)))
  expect(lastCredentials()).toEqual(['temporary-1', 'session-1'])
  expect(store.requests.map(({ headers }) => headers.authorization?.includes('/eu-central-1/s3/'))).toEqual([true, true, true])
  // Concurrent requests use the same credentials.
  expect(sts.requests.map(({ body }) => Object.fromEntries(new URLSearchParams(body)))).toEqual([
    expect.objectContaining({ Action: 'AssumeRoleWithWebIdentity', RoleArn: ROLE, WebIdentityToken: 'first-token' }),
  ])
  expect(sts.requests[0]?.headers.authorization).toBeUndefined()
})

test('credentials are replaced before they expire, by a new token, while requests continue with the old ones', async () => {
  respondAsSts = () => {
    writeFileSync(tokenFile, 'second-token')
    return issue(issued === 0 ? 240 : 3_600)
  }
  const storage = openS3Storage(bucket())
  await storage.put('media/1', FILE)
  expect(lastCredentials()).toEqual(['temporary-1', 'session-1'])
  let name = 1
  const usesNew = async () => {
    await storage.put(`media/${++name}`, FILE)
    return lastCredentials()[0] === 'temporary-2'
  }
  await waitFor(usesNew, { timeout: 10_000, describe: 'the new credentials to be used' })
  expect(sts.requests.map(({ body }) => new URLSearchParams(body).get('WebIdentityToken'))).toEqual(['first-token', 'second-token'])
})

test('the old credentials remain in use until they expire if the token service is unavailable', async () => {
  respondAsSts = () => (issued === 0 ? issue(240) : reject(503, 'ServiceUnavailable'))
  const storage = openS3Storage(bucket())
  for (const name of ['media/1', 'media/2', 'media/3']) await storage.put(name, FILE)
  await waitFor(() => sts.requests.length > 1, { timeout: 10_000, describe: 'new credentials to be requested' })
  await storage.put('media/4', FILE)
  expect(lastCredentials()).toEqual(['temporary-1', 'session-1'])
})

test('if the token service rejects the role, the error names the cause, and later requests try again', async () => {
  respondAsSts = () => reject(403, 'AccessDenied')
  const storage = openS3Storage(bucket())
  const error = await storage.put('media/1', FILE).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toMatchObject({
    kind: 'unavailable',
    reason: 'STORAGE_CREDENTIALS_UNAVAILABLE',
    message:
      'no credentials for the object store: the token service rejected the identity of this process (AccessDenied); check the role and its trust policy',
  })
  expect(isStorageFailure(error)).toBe(true)
  expect(store.requests).toEqual([])
  respondAsSts = () => issue(3_600)
  await storage.put('media/1', FILE)
  expect(lastCredentials()).toEqual(['temporary-1', 'session-1'])
})

test('if the token service fails, the error has its status', async () => {
  respondAsSts = () => reject(503, 'ServiceUnavailable')
  await expect(openS3Storage(bucket()).put('media/1', FILE)).rejects.toThrow('the token service failed (HTTP 503)')
})

test('if the token service is unreachable, the error names this cause', async () => {
  process.env['AWS_ENDPOINT_URL_STS'] = 'http://127.0.0.1:9'
  await expect(openS3Storage(bucket()).put('media/1', FILE)).rejects.toThrow('the token service is unreachable')
})

test('a process without an identity reports the missing variables', async () => {
  for (const name of VARIABLES) delete process.env[name]
  await expect(openS3Storage(bucket()).put('media/1', FILE)).rejects.toThrow('set AWS_ROLE_ARN and AWS_WEB_IDENTITY_TOKEN_FILE')
})

test('credentials of an EKS pod identity are read from the agent of the node', async () => {
  for (const name of VARIABLES) delete process.env[name]
  const credentials = { AccessKeyId: 'agent', SecretAccessKey: 'secret', Token: 'session', Expiration: new Date(Date.now() + 3_600_000) }
  respondAsSts = () => ({ status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(credentials) })
  process.env['AWS_CONTAINER_CREDENTIALS_FULL_URI'] = `${sts.url}/v1/credentials`
  await openS3Storage(bucket()).put('media/1', FILE)
  expect(lastCredentials()).toEqual(['agent', 'session'])
  expect(sts.requests.map(({ path }) => path)).toEqual(['/v1/credentials'])
})

test('if the agent of the node fails, the error names its address and what to check, without the path', async () => {
  for (const name of VARIABLES) delete process.env[name]
  respondAsSts = () => ({
    status: 403,
    headers: { 'content-type': 'application/json' },
    body: '{"message":"account 123456789012 is secret"}',
  })
  process.env['AWS_CONTAINER_CREDENTIALS_FULL_URI'] = `${sts.url}/v1/secret-path`
  const message = await openS3Storage(bucket())
    .put('media/1', FILE)
    .then(
      () => '',
      (error: Error) => error.message,
    )
  expect(message).toContain(`the credential agent at ${sts.url} returned no credentials; check that it runs on this node`)
  expect(message).not.toContain('secret')
}, 30_000)

test('presigned URLs contain the session token', async () => {
  const sign = createUrlSigner(bucket())
  const request = { method: 'GET', name: 'media/1', now: new Date(), seconds: 300, responseHeaders: {} } as const
  const { searchParams } = new URL(await sign(request))
  expect(searchParams.get('X-Amz-Credential')).toMatch(/^temporary-1\//)
  expect(searchParams.get('X-Amz-Security-Token')).toBe('session-1')
  await sign({ ...request, name: 'media/2' })
  expect(sts.requests).toHaveLength(1)
})
