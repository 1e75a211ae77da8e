import { spawnSync } from 'node:child_process'
import { createPublicKey } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { BUCKET_USERS } from '@vitascope/storage'
import { parse } from 'yaml'
import { readAccessKeyIds } from '../../apps/encoding/src/objects/grant-config.ts'
import { readByAll, readers } from '../chart/support/readers.ts'

interface ComposeService {
  image: string
  build?: { context: string; dockerfile: string; target: string }
  command?: string[]
  user?: string
  read_only?: boolean
  cap_drop?: string[]
  networks: string[]
  ports?: string[]
  environment?: Record<string, string>
  secrets?: string[]
  volumes?: string[]
  depends_on?: Record<string, { condition: string }>
  healthcheck?: { test: string[] }
  restart?: string
  /** Profiles of services that are started manually. */
  profiles?: string[]
}

interface Compose {
  services: Record<string, ComposeService>
  secrets: Record<string, { file: string }>
  volumes: Record<string, unknown>
  networks: Record<string, { internal?: boolean } | null>
}

const folder = join(import.meta.dirname, '../../deploy')
const compose = parse(readFileSync(join(folder, 'compose.yaml'), 'utf8'), { merge: true }) as Compose
const { services } = compose
const builtServices = Object.entries(services).filter(([, { build }]) => build !== undefined)

let secrets: string
beforeAll(() => {
  secrets = mkdtempSync(join(tmpdir(), 'vitascope-compose-'))
  makeSecrets()
})
afterAll(() => rmSync(secrets, { recursive: true }))

function makeSecrets(): Record<string, string> {
  const { status, stderr } = spawnSync(join(folder, 'compose/make-secrets.sh'), [secrets], { encoding: 'utf8' })
  expect([status, stderr]).toEqual([0, ''])
  const files = readdirSync(secrets, { recursive: true, encoding: 'utf8' }).filter((name) => statSync(join(secrets, name)).isFile())
  return Object.fromEntries(files.map((name) => [name, readFileSync(join(secrets, name), 'utf8')]))
}

const PUBLIC_KEYS = './secrets/public-keys'

/** Returns the result of `${NAME:-default}` for unset variables. */
const applyDefaults = (text: string) => text.replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1')

describe('each process', () => {
  test('runs an existing program with the expected arguments', () => {
    // `test` is the pod of `helm test`.
    const names = Object.keys(readers).filter((name) => name !== 'test')
    expect(builtServices.map(([name]) => name).sort()).toEqual(names.sort())
    for (const [name, { command: words = [] }] of builtServices) {
      // Node options precede the program.
      const command = words.filter((word) => !word.startsWith('--max-'))
      expect([name, statSync(join(folder, '..', command[0] ?? '')).isFile()]).toEqual([name, true])
      const backupFolder = '/var/lib/vitascope/backup/platform'
      const backup = { backup: ['backup', '--to', backupFolder, '--keep', '7'], restore: ['restore', '--from', backupFolder, '--verify'] }[
        name
      ]
      const grant = name === 'object-rights' ? BUCKET_USERS.map((user) => `${user}=${user}`) : undefined
      expect([name, command.slice(1)]).toEqual([name, backup ?? grant ?? (name.endsWith('-migrate') ? ['--wait'] : [])])
    }
  })

  test('receives exactly the settings that it requires', () => {
    for (const [name, { environment = {} }] of builtServices) {
      const settings = Object.fromEntries(
        Object.entries(environment).map(([setting, value]) => [
          setting,
          applyDefaults(String(value)).replace('/run/secrets', secrets).replace('/etc/vitascope/public-keys', join(secrets, 'public-keys')),
        ]),
      )
      const knownSettings = new Set(readByAll)
      const watched = new Proxy(settings, {
        get: (target, setting) => {
          knownSettings.add(String(setting))
          return Reflect.get(target, setting)
        },
      })
      readers[name]?.(watched)
      expect([name, Object.keys(settings).filter((setting) => !knownSettings.has(setting))]).toEqual([name, []])
    }
  })

  test('has exactly the secrets that its settings name', () => {
    for (const [name, { environment = {}, secrets: input = [] }] of builtServices) {
      const secretNames = Object.values(environment).flatMap((value) => /^\/run\/secrets\/(.+)$/.exec(String(value))?.[1] ?? [])
      expect([name, [...input].sort()]).toEqual([name, secretNames.sort()])
      const keys = input.filter((secret) => secret.endsWith('-signing-key') && secret !== 'upload-signing-key')
      expect([name, keys]).toEqual([name, secretNames.includes(`${name}-signing-key`) ? [`${name}-signing-key`] : []])
    }
  })

  test('calls ports that the called service listens on', () => {
    let calls = 0
    for (const [name, { environment = {} }] of builtServices) {
      for (const [setting, value] of Object.entries(environment)) {
        const [, host = '', port = ''] = /(?:_ADDRESS|_URL|_ENDPOINT)$/.test(setting)
          ? (/^(?:http:\/\/)?([a-z]+):(\d+)$/.exec(String(value)) ?? [])
          : []
        if (host === '') continue
        calls++
        const called = services[host]
        const listens = [...Object.values(called?.environment ?? {}), ...(called?.command ?? [])].some((received) =>
          String(received).includes(`:${port}`),
        )
        expect([name, setting, listens]).toEqual([name, setting, true])
      }
    }
    expect(calls).toBeGreaterThan(15)
  })

  test('runs without privileges, and writes to volumes only', () => {
    for (const [name, service] of builtServices) {
      expect([name, service.user, service.read_only, service.cap_drop]).toEqual([name, '10001:10001', true, ['ALL']])
    }
  })

  test('starts after its dependencies, and has a readiness check', () => {
    const isMigrated = (name: string) => services[`${name}-migrate`] !== undefined
    for (const [name, { depends_on = {}, healthcheck, restart, profiles }] of builtServices) {
      if (profiles) {
        const needed = {
          postgres: { condition: 'service_healthy' },
          'object-rights': { condition: 'service_completed_successfully' },
        }
        expect([name, profiles, depends_on, restart]).toEqual([name, ['backup'], needed, undefined])
        continue
      }
      if (name === 'object-rights') {
        expect([depends_on, restart]).toEqual([{ 'object-users': { condition: 'service_completed_successfully' } }, undefined])
        continue
      }
      if (name.endsWith('-migrate')) {
        expect([name, depends_on, restart]).toEqual([name, { postgres: { condition: 'service_healthy' } }, undefined])
        continue
      }
      expect([name, healthcheck?.test.at(-1)?.includes(':9090/readyz'), restart]).toEqual([name, true, 'unless-stopped'])
      if (isMigrated(name)) expect([name, depends_on[`${name}-migrate`]?.condition]).toEqual([name, 'service_completed_successfully'])
      for (const needed of Object.keys(depends_on)) expect([needed, services[needed] !== undefined]).toEqual([needed, true])
    }
  })
})

test("each component has the keys of its own user of the store, and only the store containers have the owner's keys", () => {
  const readKeys = (name: string) => {
    const { VITASCOPE_S3_ACCESS_KEY_ID: id, VITASCOPE_S3_SECRET_KEY_FILE: file } = services[name]?.environment ?? {}
    return [id, file]
  }
  for (const user of BUCKET_USERS) expect(readKeys(user)).toEqual([user, `/run/secrets/${user}-s3-secret-key`])
  // Restore writes objects, so it has the keys of encoding.
  expect(readKeys('restore')).toEqual(readKeys('encoding'))
  const owners = Object.entries(services).filter(([, { secrets: input = [] }]) => input.includes('s3-secret-key'))
  expect(owners.map(([name]) => name)).toEqual(['objects', 'object-users', 'object-rights'])
  expect(services['object-users']?.secrets?.slice(2)).toEqual(BUCKET_USERS.map((user) => `${user}-s3-secret-key`))
  expect(services['object-users']?.command?.[0]).toContain(`for name in ${BUCKET_USERS.join(' ')}; do`)
  expect(readAccessKeyIds(services['object-rights']?.command?.slice(1) ?? [])).toEqual(
    Object.fromEntries(BUCKET_USERS.map((user) => [user, [user]])),
  )
  for (const name of ['encoding', 'worker', 'delivery']) {
    expect([name, services[name]?.depends_on?.['object-rights']?.condition]).toEqual([name, 'service_completed_successfully'])
  }
})

test('images have a version, and our own are built from targets of the Dockerfile', () => {
  const dockerfile = readFileSync(join(folder, 'images/Dockerfile'), 'utf8')
  for (const [name, { image, build }] of Object.entries(services)) {
    expect([
      name,
      /^[a-z./]+:[\w.-]+(@sha256:[0-9a-f]{64})?$/.test(applyDefaults(image)),
      applyDefaults(image).endsWith(':latest'),
    ]).toEqual([name, true, false])
    if (build) expect([name, dockerfile.includes(` AS ${build.target}\n`)]).toEqual([name, true])
  }
})

test('only the gateway publishes a port, and only three services can connect to the outside', () => {
  expect(Object.entries(services).flatMap(([name, { ports }]) => (ports ? [name] : []))).toEqual(['gateway'])
  expect(Object.entries(services).flatMap(([name, { networks }]) => (networks.includes('outside') ? [name] : []))).toEqual([
    'catalogue',
    'encoding',
    'gateway',
  ])
  expect(compose.networks['inside']?.internal).toBe(true)
})

test('every secret and volume is defined, and the script creates each secret once and unreadable for others', () => {
  const first = makeSecrets()
  const isPublic = (name: string) => name.startsWith('public-keys/')
  const secretFiles = Object.keys(first)
  expect(secretFiles.filter((name) => !isPublic(name)).sort()).toEqual(Object.keys(compose.secrets).sort())
  for (const name of secretFiles.filter(isPublic)) {
    const signingKey = first[`${name.slice('public-keys/'.length, -'.pub'.length)}-signing-key`] ?? ''
    expect([name, createPublicKey(first[name] ?? '').equals(createPublicKey(signingKey))]).toEqual([name, true])
  }
  expect(makeSecrets()).toEqual(first)
  expect(new Set(Object.values(first)).size).toBe(Object.keys(first).length)
  expect(statSync(secrets).mode & 0o777).toBe(0o700)
  for (const { secrets: input = [], volumes = [] } of Object.values(services)) {
    for (const name of input) expect([name, compose.secrets[name]?.file]).toEqual([name, `./secrets/${name}`])
    for (const volume of volumes) {
      const [name = ''] = volume.split(':')
      const fileExists = () => (name === PUBLIC_KEYS ? secretFiles.some(isPublic) : statSync(join(folder, name)).isFile())
      expect([name, name.startsWith('./') ? fileExists() : name in compose.volumes]).toEqual([name, true])
    }
  }
})
