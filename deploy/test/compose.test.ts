import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { parse } from 'yaml'
import { readByAll, readers } from './support/readers.ts'

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
  /** Of what is run by hand. */
  profiles?: string[]
}

interface Compose {
  services: Record<string, ComposeService>
  secrets: Record<string, { file: string }>
  volumes: Record<string, unknown>
  networks: Record<string, { internal?: boolean } | null>
}

const folder = join(import.meta.dirname, '..')
const compose = parse(readFileSync(join(folder, 'compose.yaml'), 'utf8'), { merge: true }) as Compose
const { services } = compose
const ours = Object.entries(services).filter(([, { build }]) => build !== undefined)

let secrets: string
beforeAll(() => {
  secrets = mkdtempSync(join(tmpdir(), 'vitascope-compose-'))
  makeSecrets()
})
afterAll(() => rmSync(secrets, { recursive: true }))

function makeSecrets(): Record<string, string> {
  const { status, stderr } = spawnSync(join(folder, 'compose/make-secrets.sh'), [secrets], { encoding: 'utf8' })
  expect([status, stderr]).toEqual([0, ''])
  return Object.fromEntries(readdirSync(secrets).map((name) => [name, readFileSync(join(secrets, name), 'utf8')]))
}

/** What compose makes of `${NAME:-default}` where nothing is set. */
const unset = (text: string) => text.replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1')

describe('each process', () => {
  test('is one that there is', () => {
    expect(ours.map(([name]) => name).sort()).toEqual(Object.keys(readers).sort())
    for (const [name, { command = [] }] of ours) {
      expect([name, statSync(join(folder, '..', command[0] ?? '')).isFile()]).toEqual([name, true])
      const kept = '/var/lib/vitascope/backup/house'
      const words = { backup: ['backup', '--to', kept], restore: ['restore', '--from', kept, '--verify'] }[name]
      expect([name, command.slice(1)]).toEqual([name, words ?? (name.endsWith('-migrate') ? ['--wait'] : [])])
    }
  })

  test('is told what it must know, and nothing that it does not', () => {
    for (const [name, { environment = {} }] of ours) {
      const settings = Object.fromEntries(
        Object.entries(environment).map(([setting, value]) => [setting, unset(String(value)).replace('/run/secrets', secrets)]),
      )
      const known = new Set(readByAll)
      const watched = new Proxy(settings, {
        get: (target, setting) => {
          known.add(String(setting))
          return Reflect.get(target, setting)
        },
      })
      readers[name]?.(watched)
      expect([name, Object.keys(settings).filter((setting) => !known.has(setting))]).toEqual([name, []])
    }
  })

  test('has the secrets that its settings name, and no others', () => {
    for (const [name, { environment = {}, secrets: given = [] }] of ours) {
      const named = Object.values(environment).flatMap((value) => /^\/run\/secrets\/(.+)$/.exec(String(value))?.[1] ?? [])
      expect([name, [...given].sort()]).toEqual([name, named.sort()])
    }
  })

  test('calls ports that the called service listens on', () => {
    let calls = 0
    for (const [name, { environment = {} }] of ours) {
      for (const [setting, value] of Object.entries(environment)) {
        const [, host = '', port = ''] = /(?:_ADDRESS|_URL|_ENDPOINT)$/.test(setting)
          ? (/^(?:http:\/\/)?([a-z]+):(\d+)$/.exec(String(value)) ?? [])
          : []
        if (host === '') continue
        calls++
        const called = services[host]
        const listens = [...Object.values(called?.environment ?? {}), ...(called?.command ?? [])].some((told) =>
          String(told).includes(`:${port}`),
        )
        expect([name, setting, listens]).toEqual([name, setting, true])
      }
    }
    expect(calls).toBeGreaterThan(15)
  })

  test('runs without rights, and may write to volumes alone', () => {
    for (const [name, service] of ours) {
      expect([name, service.user, service.read_only, service.cap_drop]).toEqual([name, '10001:10001', true, ['ALL']])
    }
  })

  test('starts after what it needs, and is known to be ready', () => {
    const isMigrated = (name: string) => services[`${name}-migrate`] !== undefined
    for (const [name, { depends_on = {}, healthcheck, restart, profiles }] of ours) {
      if (profiles) {
        const needed = { postgres: { condition: 'service_healthy' }, objects: { condition: 'service_healthy' } }
        expect([name, profiles, depends_on, restart]).toEqual([name, ['backup'], needed, undefined])
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

test('images are named with a version, and ours are built from the targets of the Dockerfile', () => {
  const dockerfile = readFileSync(join(folder, 'images/Dockerfile'), 'utf8')
  for (const [name, { image, build }] of Object.entries(services)) {
    expect([name, /^[a-z./]+:[\w.-]+$/.test(unset(image)), unset(image).endsWith(':latest')]).toEqual([name, true, false])
    if (build) expect([name, dockerfile.includes(` AS ${build.target}\n`)]).toEqual([name, true])
  }
})

test('only the gateway is reached from outside, and only who must goes out', () => {
  expect(Object.entries(services).flatMap(([name, { ports }]) => (ports ? [name] : []))).toEqual(['gateway'])
  expect(Object.entries(services).flatMap(([name, { networks }]) => (networks.includes('outside') ? [name] : []))).toEqual([
    'catalogue',
    'encoding',
    'gateway',
  ])
  expect(compose.networks['inside']?.internal).toBe(true)
})

test('every secret and volume that is used is there, and its script makes each secret once, for no others to find', () => {
  const first = makeSecrets()
  expect(Object.keys(first).sort()).toEqual(Object.keys(compose.secrets).sort())
  expect(makeSecrets()).toEqual(first)
  expect(new Set(Object.values(first)).size).toBe(Object.keys(first).length)
  expect(statSync(secrets).mode & 0o777).toBe(0o700)
  for (const { secrets: given = [], volumes = [] } of Object.values(services)) {
    for (const name of given) expect([name, compose.secrets[name]?.file]).toEqual([name, `./secrets/${name}`])
    for (const volume of volumes) {
      const [name = ''] = volume.split(':')
      expect([name, name.startsWith('./') ? statSync(join(folder, name)).isFile() : name in compose.volumes]).toEqual([name, true])
    }
  }
})
