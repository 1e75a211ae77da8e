import { readFile, rm } from 'node:fs/promises'
import { request as secureRequest } from 'node:https'
import { join } from 'node:path'
import type { Metadata } from '@grpc/grpc-js'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { PRINCIPAL_HEADER, type Principal } from '@vitascope/grpc'
import { type CertificateFiles, certificateFolder, createTestAuthority, type TestAuthority } from '@vitascope/testing/certificates'
import { nouns } from './rows/index.ts'
import { falseTokens, forged, metadataOf, nobodies, type Prey, signed, userOf } from './support/false-principals.ts'
import { type OpenHouse, openHouse } from './support/house.ts'
import type { Values } from './support/operations.ts'
import { settingsOf } from './support/process-settings.ts'
import { rowsNow } from './support/row-suite.ts'
import { openRpcCaller, type RpcCaller, type Shown } from './support/rpc-caller.ts'
import { AREAS, type Area, allRpcs, type Rpc } from './support/rpcs.ts'

const HOUSE = ['auth', 'catalogue', 'encoding', 'worker', 'collaboration', 'analytics', 'delivery', 'gateway']
const rpcs = allRpcs()

let authority: TestAuthority
let certificates: Awaited<ReturnType<typeof certificateFolder>>
let gateway: CertificateFiles
let house: OpenHouse
let prey: Prey
/** Of records of the owner, one of each noun. */
let values: Values = {}
const addresses: Record<string, string> = {}
const callers = {} as Record<Area, RpcCaller>

beforeAll(async () => {
  authority = await createTestAuthority()
  certificates = await certificateFolder(await authority.issue(HOUSE))
  gateway = await authority.issue(['gateway'])
  house = await openHouse({
    VITASCOPE_TLS_DIR: certificates.folder,
    VITASCOPE_TLS_CALLERS: HOUSE.join(','),
    VITASCOPE_GRPC_CONNECTION_SECONDS: '600',
  })
  const told = new Map<string, string>()
  for (const name of [...AREAS, 'delivery']) for (const [setting, value] of await settingsOf(house.platform, name)) told.set(setting, value)
  for (const name of [...AREAS, 'delivery', 'encoding_upload']) addresses[name] = `${told.get(`VITASCOPE_${name.toUpperCase()}_LISTEN`)}`
  const secret = (await readFile(join(house.platform.dataDir, 'secrets', 'principal-key'), 'utf8')).trim()
  prey = { secret, owner: house.owner, stranger: house.stranger }
  for (const { samples } of nouns) values = { ...values, ...(await samples.make?.(house)) }
  values = { ...values, organisation_id: house.owner.organisationId, user_id: house.owner.userId, key: house.owner.key }
  for (const area of AREAS) callers[area] = openRpcCaller(addresses[area] ?? '', area, gateway)
}, 180_000)
afterAll(async () => {
  for (const area of AREAS) callers[area]?.close()
  await house?.close()
  await rm(certificates.folder, { recursive: true, force: true })
})

const ask = (rpc: Rpc, metadata: Metadata) => callers[rpc.area].call(rpc, rpc.request(values), metadata)

/** Runs `check` for every rpc and names each that fails. */
async function forAll(check: (rpc: Rpc) => Promise<string | undefined>, of: readonly Rpc[] = rpcs): Promise<void> {
  const failures: string[] = []
  for (const rpc of of) {
    const failure = await check(rpc)
    if (failure !== undefined) failures.push(`${rpc.path}: ${failure}`)
  }
  expect(failures).toEqual([])
}

describe('whoever has a certificate of the house', () => {
  test('is refused by every rpc without a principal that the house signed', async () => {
    const refused = nobodies(prey)
    await forAll(async (rpc) => {
      const wrong: string[] = []
      for (const [name, entries] of refused) {
        const { code, bytes } = await ask(rpc, metadataOf(entries))
        if (code !== 'UNAUTHENTICATED' || bytes.length > 0) wrong.push(`${name}: ${code}`)
      }
      return wrong.length > 0 ? wrong.join(', ') : undefined
    })
    process.stderr.write(`internal calls: ${rpcs.length} rpcs refused ${refused.length} nobodies each\n`)
  }, 120_000)

  test.each(['stranger', 'guest'] as const)(
    'is served as the %s whom the house signed, whatever else is said beside it',
    async (who) => {
      const principal: Principal = who === 'guest' ? { kind: 'guest' } : userOf(house.stranger)
      const before = await rowsNow(house)
      let kept = 0
      await forAll(async (rpc) => {
        const plain = await ask(rpc, metadataOf({ [PRINCIPAL_HEADER]: signed(principal, prey.secret) }))
        const lied = await ask(rpc, metadataOf({ ...forged(prey), [PRINCIPAL_HEADER]: signed(principal, prey.secret) }))
        if (!ANSWERS.has(lied.code) || !ANSWERS.has(plain.code)) return `${plain.code}, then ${lied.code}`
        // What was made once may be refused the second time; what was refused stays refused.
        const same = plain.code === lied.code && (!rpc.isRead || plain.bytes.equals(lied.bytes))
        if (!same && (rpc.isRead || plain.code !== 'OK')) return `${plain.code}, but ${lied.code} with forged metadata`
        if (rpc.isRead && lied.code !== 'OK') {
          const own = await ask(rpc, metadataOf({ [PRINCIPAL_HEADER]: signed(userOf(house.owner), prey.secret) }))
          if (own.code === 'OK') kept++
        }
        return undefined
      })
      // The same requests are answered to their owner: it is for the caller that they are refused.
      expect(kept).toBeGreaterThan(10)
      const after = await rowsNow(house)
      const lost = [...before].flatMap(([table, rows]) => {
        const left = new Set(after.get(table)?.split('\n'))
        return rows.split('\n').flatMap((row) => (left.has(row) ? [] : [`${table}: ${row}`]))
      })
      expect(lost).toEqual([])
    },
    120_000,
  )
})

/** Refusals of a caller who may not, or who asks for something wrong, and what may be had by anybody. */
const ANSWERS = new Set([
  ...['OK', 'UNAUTHENTICATED', 'PERMISSION_DENIED', 'NOT_FOUND', 'INVALID_ARGUMENT'],
  ...['ALREADY_EXISTS', 'FAILED_PRECONDITION', 'ABORTED', 'RESOURCE_EXHAUSTED'],
])

describe('a certificate', () => {
  const someone = () => metadataOf({ [PRINCIPAL_HEADER]: signed({ kind: 'service', service: 'gateway' }, prey.secret) })

  test('with a name that is not among the callers is refused by every rpc, with the best of principals', async () => {
    const strangers = await authority.issue(['stranger', '*.gateway', 'gateway.example.org'])
    for (const area of AREAS) {
      const stranger = openRpcCaller(addresses[area] ?? '', area, strangers)
      const check = async (rpc: Rpc) => {
        const { code } = await stranger.call(rpc, rpc.request(values), someone())
        return code === 'PERMISSION_DENIED' ? undefined : code
      }
      await forAll(
        check,
        rpcs.filter((rpc) => rpc.area === area),
      ).finally(stranger.close)
    }
  }, 60_000)

  const shows: [string, () => Promise<Shown>][] = [
    ['in plain text', async () => undefined],
    ['without one', async () => ({ 'ca.crt': authority.certificate })],
    ['with one that has ended', () => authority.issue(['gateway'], { toSeconds: -60 })],
    ['with one that has not begun', () => authority.issue(['gateway'], { fromSeconds: 600, toSeconds: 3_600 })],
    [
      'with one of another authority',
      async () => ({ ...(await (await createTestAuthority()).issue(['gateway'])), 'ca.crt': authority.certificate }),
    ],
  ]

  test.each(shows)('is asked of each service: a caller %s does not come in', async (_, make) => {
    const shown = await make()
    for (const area of AREAS) {
      const [rpc] = rpcs.filter((one) => one.area === area)
      if (!rpc) throw new Error(`${area} has no rpc`)
      const caller = openRpcCaller(addresses[area] ?? '', area, shown)
      const { code } = await caller.call(rpc, rpc.request(values), someone()).finally(caller.close)
      expect([area, code]).toEqual([area, 'UNAVAILABLE'])
      const { code: known } = await ask(rpc, someone())
      expect([area, ANSWERS.has(known)]).toEqual([area, true])
    }
    for (const door of ['delivery', 'encoding_upload']) expect([door, await statusOf(door, shown)]).toEqual([door, 'refused'])
  })

  test('and a principal are asked by HTTP, too', async () => {
    const stranger = await authority.issue(['stranger'])
    for (const door of ['delivery', 'encoding_upload']) expect([door, await statusOf(door, stranger)]).toEqual([door, 'refused'])
    // It knows no such verb, but it answers.
    expect(await statusOf('delivery', gateway)).toBe(405)
    expect(await statusOf('encoding_upload', gateway)).toBe('unauthenticated')
    for (const token of Object.values(falseTokens(prey))) {
      expect(await statusOf('encoding_upload', gateway, { ...forged(prey), [PRINCIPAL_HEADER]: token })).toBe('unauthenticated')
    }
  })
})

/** What a door for HTTP answers to one who shows this: its status, or the kind of its refusal. */
function statusOf(door: string, shown: Shown, headers: Record<string, string> = {}): Promise<number | string> {
  const path = `//${addresses[door]}/video/upload/form`
  if (!shown) return fetch(`http:${path}`).then(({ status }) => status, refused)
  const own = 'tls.key' in shown ? { cert: shown['tls.crt'], key: shown['tls.key'] } : {}
  const servername = door === 'encoding_upload' ? 'encoding' : door
  const options = { method: 'POST', headers, ca: authority.certificate, ...own, servername, agent: false }
  return new Promise((resolve) => {
    const asked = secureRequest(`https:${path}`, options, (answer) => {
      answer.resume()
      const refusal = answer.headers['vitascope-refusal']
      if (refusal === undefined) resolve(answer.statusCode ?? 0)
      else resolve((JSON.parse(Buffer.from(String(refusal), 'base64').toString()) as { kind: string }).kind)
    })
    asked.on('error', () => resolve(refused())).end()
  })
}

const refused = () => 'refused'
