// Faults: K12
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import { helmPath, kubectlPath, waitFor } from '@vitascope/testing'
import { stringify } from 'yaml'
import { toKubeconfigPath } from '../../cluster/keys.ts'
import { chart, describeChart, previousChart, valueSets } from '../support/chart.ts'

jest.setTimeout(300_000)
const location = JSON.parse(readFileSync(process.env['VITASCOPE_TEST_CLUSTER'] ?? '', 'utf8')) as { folder: string }
const kubeconfig = toKubeconfigPath(location.folder, 'admin')
const folder = mkdtempSync(join(tmpdir(), 'vitascope-chart-cluster-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Runs helm or kubectl. Returns the exit code, and stdout and stderr as one text. */
function run(program: string | undefined, args: readonly string[]): { code: number; output: string } {
  if (program === undefined) throw new Error('helm and kubectl are not installed')
  const { status, stdout, stderr } = spawnSync(program, ['--kubeconfig', kubeconfig, ...args], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  return { code: status ?? 1, output: `${stdout}${stderr}`.trim() }
}
const kubectl = (...args: string[]) => run(kubectlPath(), args)
const helm = (...args: string[]) => run(helmPath(), args)
/** Returns the output. Throws it if the program failed. */
function must({ code, output }: { code: number; output: string }): string {
  if (code !== 0) throw new Error(output)
  return output
}
function writeManifests(name: string, manifests: readonly object[]): string {
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
    must(kubectl('apply', '-f', writeManifests('namespaces', ['changes', 'tests', 'upgrades'].map(restricted))))
  })

  test('can be upgraded from the previous version, rolled back and removed, and keeps its data and keys', async () => {
    const values = valueSets['evaluation'] ?? ''
    // The previous chart calls these values `demo`.
    const previousValues = join(folder, 'previous-values.yaml')
    writeFileSync(previousValues, readFileSync(values, 'utf8').replace(/^evaluation:/m, 'demo:'))
    const release = (of: string, file: string, ...args: string[]) => [
      ...['videos', of, '--namespace', 'upgrades', '--values', file, '--no-hooks'],
      ...args,
    ]
    const key = () =>
      must(kubectl('get', 'secret', 'videos-vitascope-keys', '--namespace', 'upgrades', '-o', 'jsonpath={.data.master-key}'))
    must(helm('upgrade', '--install', ...release(previousChart, previousValues)))
    const firstKey = key()
    expect(firstKey.length).toBeGreaterThan(40)
    const claims = () => must(kubectl('get', 'persistentvolumeclaims', '--namespace', 'upgrades', '-o', 'name'))
    await waitFor(() => claims().includes('spool-') && claims().includes('data-'), { timeout: 60_000 })
    must(helm('upgrade', ...release(chart, values)))
    must(helm('rollback', 'videos', '1', '--namespace', 'upgrades', '--no-hooks'))
    must(
      helm(
        'upgrade',
        ...release(chart, values, '--set', 'logLevel=debug,web.enabled=true,auth.replicas=2', '--set-string', 'image.tag=next'),
      ),
    )
    must(helm('rollback', 'videos', '2', '--namespace', 'upgrades', '--no-hooks'))
    must(helm('upgrade', ...release(chart, values, '--set', 'analytics.spool.enabled=false')))
    expect(key()).toBe(firstKey)
    must(helm('uninstall', 'videos', '--namespace', 'upgrades', '--no-hooks'))
    const remaining = must(kubectl('get', 'secrets,persistentvolumeclaims', '--namespace', 'upgrades', '-o', 'name'))
    expect(remaining.split('\n').sort()).toEqual([
      'persistentvolumeclaim/data-videos-vitascope-postgres-0',
      'persistentvolumeclaim/spool-videos-vitascope-analytics-0',
      'persistentvolumeclaim/videos-vitascope-objects',
      'secret/videos-vitascope-keys',
      'secret/videos-vitascope-postgres',
    ])
  })

  test('is tested by a pod that PodSecurity restricted admits, and whose end is that of helm test', async () => {
    // No node matches, so that only this test changes the state of the pod.
    const values = ['--values', valueSets['evaluation'] ?? '', '--set', 'test.pod.nodeSelector.kind=none']
    must(helm('install', 'videos', chart, '--namespace', 'tests', ...values, '--no-hooks'))
    const pod = ['pod', 'videos-vitascope-test', '--namespace', 'tests']
    for (const [phase, code] of [
      ['Succeeded', 0],
      ['Failed', 1],
    ] as const) {
      const program = spawn(helmPath() ?? '', ['--kubeconfig', kubeconfig, 'test', 'videos', '--namespace', 'tests', '--timeout', '60s'])
      const ended = once(program, 'close')
      await waitFor(() => kubectl('get', ...pod, '-o', 'jsonpath={.status.phase}').output === 'Pending', { timeout: 60_000 })
      must(kubectl('patch', ...pod, '--subresource=status', '--patch', JSON.stringify({ status: { phase } })))
      expect([phase, ...(await ended)]).toEqual([phase, code, null])
    }
    must(helm('uninstall', 'videos', '--namespace', 'tests', '--no-hooks'))
  })

  test('a changed secret replaces only the pods that mount it', () => {
    // The CRDs of operators are not installed here.
    const upgradeArgs = [
      '--set',
      'tls.mode=none,monitoring.serviceMonitor.enabled=false,monitoring.rules.enabled=false',
      '--dry-run=server',
      '--no-hooks',
    ]
    const versions = () => {
      const output = must(
        helm('template', 'videos', chart, '--namespace', 'changes', '--values', valueSets['production'] ?? '', ...upgradeArgs),
      )
      const pods = [...output.matchAll(/component: (\w+)\n(?:.*\n){1,12}?\s+annotations:\n\s+vitascope\/secrets-version: "(\w+)"/g)]
      return Object.fromEntries(pods.map(([, component = '', version]) => [component, version]))
    }
    const secret = (url: string) =>
      writeManifests('databases', [
        { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'videos-redis', namespace: 'changes' }, stringData: { url } },
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
