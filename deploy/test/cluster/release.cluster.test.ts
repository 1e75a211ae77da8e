import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import { helmPath, kubectlPath, waitFor } from '@vitascope/testing'
import { stringify } from 'yaml'
import { kubeconfigOf } from '../../cluster/keys.ts'
import { chart, describeChart, previousChart, valueSets } from '../support/chart.ts'

jest.setTimeout(300_000)
const place = JSON.parse(readFileSync(process.env['VITASCOPE_TEST_CLUSTER'] ?? '', 'utf8')) as { folder: string }
const kubeconfig = kubeconfigOf(place.folder, 'admin')
const folder = mkdtempSync(join(tmpdir(), 'vitascope-chart-cluster-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Runs one of the two programs to its end; both of its outputs in one. */
function run(program: string | undefined, args: readonly string[]): { code: number; said: string } {
  if (program === undefined) throw new Error('helm and kubectl are not here')
  const { status, stdout, stderr } = spawnSync(program, ['--kubeconfig', kubeconfig, ...args], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  return { code: status ?? 1, said: `${stdout}${stderr}`.trim() }
}
const kubectl = (...args: string[]) => run(kubectlPath(), args)
const helm = (...args: string[]) => run(helmPath(), args)
/** The same, where it has to succeed. */
function must({ code, said }: { code: number; said: string }): string {
  if (code !== 0) throw new Error(said)
  return said
}
function fileOf(name: string, manifests: readonly object[]): string {
  const file = join(folder, `${name}.yaml`)
  writeFileSync(file, manifests.map((manifest) => stringify(manifest)).join('---\n'))
  return file
}
const restricted = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels: { 'pod-security.kubernetes.io/enforce': 'restricted', 'pod-security.kubernetes.io/warn': 'restricted' } },
})

describeChart('a release', () => {
  beforeAll(() => {
    must(kubectl('apply', '-f', fileOf('namespaces', ['changes', 'upgrades'].map(restricted))))
  })

  test('is upgraded from the version before, rolled back and removed, and what cannot be made again stays', async () => {
    const release = (of: string, ...more: string[]) => [
      'house',
      of,
      '--namespace',
      'upgrades',
      '--values',
      valueSets['demo'] ?? '',
      '--no-hooks',
      ...more,
    ]
    const key = () => must(kubectl('get', 'secret', 'house-vitascope-keys', '--namespace', 'upgrades', '-o', 'jsonpath={.data.master-key}'))
    must(helm('upgrade', '--install', ...release(previousChart)))
    const made = key()
    expect(made.length).toBeGreaterThan(40)
    const claims = () => must(kubectl('get', 'persistentvolumeclaims', '--namespace', 'upgrades', '-o', 'name'))
    await waitFor(() => claims().includes('spool-') && claims().includes('data-'), { timeout: 60_000 })
    must(helm('upgrade', ...release(chart)))
    must(helm('rollback', 'house', '1', '--namespace', 'upgrades', '--no-hooks'))
    must(helm('upgrade', ...release(chart, '--set', 'logLevel=debug,web.enabled=true,auth.replicas=2', '--set-string', 'image.tag=next')))
    must(helm('rollback', 'house', '2', '--namespace', 'upgrades', '--no-hooks'))
    must(helm('upgrade', ...release(chart, '--set', 'analytics.spool.enabled=false')))
    expect(key()).toBe(made)
    must(helm('uninstall', 'house', '--namespace', 'upgrades', '--no-hooks'))
    const left = must(kubectl('get', 'secrets,persistentvolumeclaims', '--namespace', 'upgrades', '-o', 'name'))
    expect(left.split('\n').sort()).toEqual([
      'persistentvolumeclaim/data-house-vitascope-postgres-0',
      'persistentvolumeclaim/house-vitascope-objects',
      'persistentvolumeclaim/spool-house-vitascope-analytics-0',
      'secret/house-vitascope-keys',
      'secret/house-vitascope-postgres',
    ])
  })

  test('replaces the pods that hold a secret when that changes, and no others', () => {
    // Operators are not here.
    const more = [
      '--set',
      'tls.mode=none,monitoring.serviceMonitor.enabled=false,monitoring.rules.enabled=false',
      '--dry-run=server',
      '--no-hooks',
    ]
    const versions = () => {
      const said = must(helm('template', 'house', chart, '--namespace', 'changes', '--values', valueSets['production'] ?? '', ...more))
      const pods = [...said.matchAll(/component: (\w+)\n(?:.*\n){1,12}?\s+annotations:\n\s+vitascope\/secrets-version: "(\w+)"/g)]
      return Object.fromEntries(pods.map(([, component = '', version]) => [component, version]))
    }
    const secret = (url: string) =>
      fileOf('databases', [
        { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'house-redis', namespace: 'changes' }, stringData: { url } },
      ])
    must(kubectl('apply', '-f', secret('redis://one')))
    const before = versions()
    expect(Object.keys(before).length).toBe(9)
    expect(versions()).toEqual(before)
    must(kubectl('apply', '-f', secret('redis://two')))
    const after = versions()
    expect(
      Object.keys(after)
        .filter((name) => after[name] !== before[name])
        .sort(),
    ).toEqual(['gateway', 'web'])
  })
})
