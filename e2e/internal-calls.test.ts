// Faults: A20
import { rm } from 'node:fs/promises'
import { request as secureRequest } from 'node:https'
import type { Metadata } from '@grpc/grpc-js'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { PRINCIPAL_HEADER, type Principal } from '@vitascope/grpc'
import { recordFigure } from '@vitascope/testing'
import { type CertificateFiles, certificateFolder, createTestAuthority, type TestAuthority } from '@vitascope/testing/certificates'
import { nouns } from './endpoint-cases/index.ts'
import { buildMetadata, falseTokens, forged, invalidCredentials, signed, type Target, toPrincipal } from './support/forged-principals.ts'
import type { Values } from './support/operations.ts'
import { type Platform, startPlatform } from './support/platform.ts'
import { readSettings } from './support/process-settings.ts'
import { readRows } from './support/row-suite.ts'
import { type ClientCredentials, openRpcCaller, type RpcCaller } from './support/rpc-caller.ts'
import { AREAS, type Area, allRpcs, type Rpc } from './support/rpcs.ts'

const SERVICES = ['auth', 'catalogue', 'encoding', 'worker', 'collaboration', 'analytics', 'delivery', 'gateway']
const rpcs = allRpcs()

let authority: TestAuthority
let certificates: Awaited<ReturnType<typeof certificateFolder>>
let gateway: CertificateFiles
let fixture: Platform
let target: Target
/** Ids of one record per noun by parameter name, all of the owner. */
let values: Values = {}
const addresses: Record<string, string> = {}
const callers = {} as Record<Area, RpcCaller>

beforeAll(async () => {
  authority = await createTestAuthority()
  certificates = await certificateFolder(await authority.issue(SERVICES))
  gateway = await authority.issue(['gateway'])
  fixture = await startPlatform({
    VITASCOPE_TLS_DIR: certificates.folder,
    VITASCOPE_TLS_CALLERS: SERVICES.join(','),
    VITASCOPE_GRPC_CONNECTION_SECONDS: '600',
  })
  const received = new Map<string, string>()
  for (const name of [...AREAS, 'delivery'])
    for (const [setting, value] of await readSettings(fixture.platform, name)) received.set(setting, value)
  for (const name of [...AREAS, 'delivery', 'encoding_upload'])
    addresses[name] = `${received.get(`VITASCOPE_${name.toUpperCase()}_LISTEN`)}`
  target = { dataDir: fixture.platform.dataDir, owner: fixture.owner, otherTenant: fixture.otherTenant }
  for (const { samples } of nouns) values = { ...values, ...(await samples.make?.(fixture)) }
  const { organisationId: organisation_id, userId: user_id, key } = fixture.owner
  // The token of a guest link permits a call for every caller, so a false one is sent.
  values = { ...values, organisation_id, user_id, key, token: 'A'.repeat(43) }
  for (const area of AREAS) callers[area] = openRpcCaller(addresses[area] ?? '', area, gateway)
}, 180_000)
afterAll(async () => {
  for (const area of AREAS) callers[area]?.close()
  await fixture?.close()
  await rm(certificates.folder, { recursive: true, force: true })
})

const send = (rpc: Rpc, metadata: Metadata) => callers[rpc.area].call(rpc, rpc.request(values), metadata)

/** Runs `check` for every rpc and names each that fails. */
async function forAll(check: (rpc: Rpc) => Promise<string | undefined>, of: readonly Rpc[] = rpcs): Promise<void> {
  const failures: string[] = []
  for (const rpc of of) {
    const failure = await check(rpc)
    if (failure !== undefined) failures.push(`${rpc.path}: ${failure}`)
  }
  expect(failures).toEqual([])
}

describe('a caller with a certificate of the platform', () => {
  test('is rejected by every rpc without a principal that the platform signed', async () => {
    const invalid = new Map<Area, Awaited<ReturnType<typeof invalidCredentials>>>()
    for (const area of AREAS) invalid.set(area, await invalidCredentials(target, area))
    await forAll(async (rpc) => {
      const wrong: string[] = []
      for (const [name, entries] of invalid.get(rpc.area) ?? []) {
        const { code, bytes } = await send(rpc, buildMetadata(entries))
        if (code !== 'UNAUTHENTICATED' || bytes.length > 0) wrong.push(`${name}: ${code}`)
      }
      return wrong.length > 0 ? wrong.join(', ') : undefined
    })
    recordFigure('A20', `${rpcs.length} rpcs rejected ${invalid.get('auth')?.length} kinds of invalid principals each`)
  }, 120_000)

  test.each(['user', 'guest'] as const)(
    'is served as the signed %s, regardless of other metadata',
    async (userType) => {
      const principal: Principal = userType === 'guest' ? { kind: 'guest' } : toPrincipal(fixture.otherTenant)
      const before = await readRows(fixture)
      let ownerOnlyReads = 0
      await forAll(async (rpc) => {
        const token = await signed(principal, target, rpc.area)
        const plain = await send(rpc, buildMetadata({ [PRINCIPAL_HEADER]: token }))
        const tampered = await send(rpc, buildMetadata({ ...(await forged(target)), [PRINCIPAL_HEADER]: token }))
        if (!EXPECTED_CODES.has(tampered.code) || !EXPECTED_CODES.has(plain.code)) return `${plain.code}, then ${tampered.code}`
        // A created record may be rejected the second time. A rejected call stays rejected.
        const same = plain.code === tampered.code && (!rpc.isRead || plain.bytes.equals(tampered.bytes))
        if (!same && (rpc.isRead || plain.code !== 'OK')) return `${plain.code}, but ${tampered.code} with forged metadata`
        if (rpc.isRead && tampered.code !== 'OK') {
          const ownerResponse = await send(
            rpc,
            buildMetadata({ [PRINCIPAL_HEADER]: await signed(toPrincipal(fixture.owner), target, rpc.area) }),
          )
          if (ownerResponse.code === 'OK') ownerOnlyReads++
        }
        return undefined
      })
      // The same requests succeed for their owner, so their rejection depends on the caller.
      expect(ownerOnlyReads).toBeGreaterThan(10)
      const after = await readRows(fixture)
      const lost = [...before].flatMap(([table, rows]) => {
        const remainingRows = new Set(after.get(table)?.split('\n'))
        return rows.split('\n').flatMap((row) => (remainingRows.has(row) ? [] : [`${table}: ${row}`]))
      })
      expect(lost).toEqual([])
    },
    120_000,
  )
})

describe('a worker', () => {
  const workerPrincipal = { kind: 'service', service: 'worker' } as const

  test('is rejected by every rpc except those of its work, which reject all others', async () => {
    const isWork = (rpc: Rpc) => rpc.path.startsWith('/vitascope.encoding.v1.WorkService/')
    expect(rpcs.filter(isWork)).toHaveLength(8)
    const codeFor = async (rpc: Rpc, principal: Principal & { kind: 'service' }) => {
      const token = await signed(principal, target, rpc.area, principal.service)
      return (await send(rpc, buildMetadata({ [PRINCIPAL_HEADER]: token }))).code
    }
    await forAll(async (rpc) => {
      const workerCode = await codeFor(rpc, workerPrincipal)
      // The gateway calls only the work of workers here. Its other streams would stay open up to the deadline.
      const [admittedCode, rejectedCode] = isWork(rpc)
        ? [workerCode, await codeFor(rpc, { kind: 'service', service: 'gateway' })]
        : [undefined, workerCode]
      if (rejectedCode !== 'PERMISSION_DENIED') return `${rejectedCode} for a caller that is not allowed`
      return admittedCode === undefined || (EXPECTED_CODES.has(admittedCode) && admittedCode !== 'PERMISSION_DENIED')
        ? undefined
        : `${admittedCode} for the worker`
    })
  }, 60_000)

  test('cannot upload with any signed principal', async () => {
    const headers = { [PRINCIPAL_HEADER]: await signed(workerPrincipal, target, 'encoding', 'worker') }
    expect(await fetchStatus('encoding_upload', gateway, headers)).toBe('forbidden')
  })
})

/** Codes of calls that a service has handled: success, missing rights and invalid input. Other codes are faults. */
const EXPECTED_CODES = new Set([
  ...['OK', 'UNAUTHENTICATED', 'PERMISSION_DENIED', 'NOT_FOUND', 'INVALID_ARGUMENT'],
  ...['ALREADY_EXISTS', 'FAILED_PRECONDITION', 'ABORTED', 'RESOURCE_EXHAUSTED'],
])

describe('a certificate', () => {
  const signedMetadata = async (area: Area) =>
    buildMetadata({ [PRINCIPAL_HEADER]: await signed({ kind: 'service', service: 'gateway' }, target, area) })

  test('with an unknown name is rejected by every rpc, even with a system principal', async () => {
    const unknownIdentity = await authority.issue(['unknown', '*.gateway', 'gateway.example.org'])
    for (const area of AREAS) {
      const caller = openRpcCaller(addresses[area] ?? '', area, unknownIdentity)
      const check = async (rpc: Rpc) => {
        const { code } = await caller.call(rpc, rpc.request(values), await signedMetadata(area))
        return code === 'PERMISSION_DENIED' ? undefined : code
      }
      await forAll(
        check,
        rpcs.filter((rpc) => rpc.area === area),
      ).finally(caller.close)
    }
  }, 60_000)

  const shows: [string, () => Promise<ClientCredentials>][] = [
    ['in plain text', async () => undefined],
    ['without one', async () => ({ 'ca.crt': authority.certificate })],
    ['with one that has ended', () => authority.issue(['gateway'], { toSeconds: -60 })],
    ['with one that is not valid yet', () => authority.issue(['gateway'], { fromSeconds: 600, toSeconds: 3_600 })],
    [
      'with one of another authority',
      async () => ({ ...(await (await createTestAuthority()).issue(['gateway'])), 'ca.crt': authority.certificate }),
    ],
  ]

  test.each(shows)('is required by each service: rejects a caller %s', async (_, make) => {
    const shown = await make()
    for (const area of AREAS) {
      const [rpc] = rpcs.filter((one) => one.area === area)
      if (!rpc) throw new Error(`${area} has no rpc`)
      const caller = openRpcCaller(addresses[area] ?? '', area, shown)
      const { code } = await caller.call(rpc, rpc.request(values), await signedMetadata(area)).finally(caller.close)
      expect([area, code]).toEqual([area, 'UNAVAILABLE'])
      const { code: actualCode } = await send(rpc, await signedMetadata(area))
      expect([area, EXPECTED_CODES.has(actualCode)]).toEqual([area, true])
    }
    for (const server of ['delivery', 'encoding_upload'])
      expect([server, await fetchStatus(server, shown)]).toEqual([server, 'connection refused'])
  })

  test('and a principal are required over HTTP as well', async () => {
    const unknownIdentity = await authority.issue(['unknown'])
    for (const server of ['delivery', 'encoding_upload'])
      expect([server, await fetchStatus(server, unknownIdentity)]).toEqual([server, 'connection refused'])
    // Delivery has no such method, but it responds.
    expect(await fetchStatus('delivery', gateway)).toBe(405)
    expect(await fetchStatus('encoding_upload', gateway)).toBe('unauthenticated')
    for (const token of Object.values(await falseTokens(target, 'encoding'))) {
      expect(await fetchStatus('encoding_upload', gateway, { ...(await forged(target)), [PRINCIPAL_HEADER]: token })).toBe(
        'unauthenticated',
      )
    }
  })
})

/** Returns the status of an HTTP server for this certificate, or the kind of its rejection. */
function fetchStatus(server: string, shown: ClientCredentials, headers: Record<string, string> = {}): Promise<number | string> {
  const path = `//${addresses[server]}/video/upload/form`
  if (!shown) return fetch(`http:${path}`).then(({ status }) => status, connectionRefused)
  const clientCertificate = 'tls.key' in shown ? { cert: shown['tls.crt'], key: shown['tls.key'] } : {}
  const servername = server === 'encoding_upload' ? 'encoding' : server
  const options = { method: 'POST', headers, ca: authority.certificate, ...clientCertificate, servername, agent: false }
  return new Promise((resolve) => {
    const requested = secureRequest(`https:${path}`, options, (response) => {
      response.resume()
      const error = response.headers['vitascope-error']
      if (error === undefined) resolve(response.statusCode ?? 0)
      else resolve((JSON.parse(Buffer.from(String(error), 'base64').toString()) as { kind: string }).kind)
    })
    requested.on('error', () => resolve(connectionRefused())).end()
  })
}

const connectionRefused = () => 'connection refused'
