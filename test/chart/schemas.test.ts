// Faults: K1
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { kubeconformPath } from '@vitascope/testing'
import { describeChart, type Manifest, renderOnce, valueSets } from './support/chart.ts'

const folder = join(import.meta.dirname, 'schemas')
const versions = readdirSync(folder).filter((file) => file.startsWith('kubernetes-'))
const describeSchemas = kubeconformPath() === undefined ? describe.skip : describeChart

/** Result of kubeconform for one object. */
interface ResultLine {
  kind: string
  name: string
  status: string
  msg: string
}

/**
 * Writes one file per kind of a Kubernetes version and of the operators that the chart supports.
 */
function writeSchemas(version: string, target: string): void {
  for (const file of [version, 'operators.json']) {
    const { kinds, $defs } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as { kinds: Record<string, object>; $defs: object }
    for (const [name, reference] of Object.entries(kinds)) {
      const [kind = '', apiVersion = '', group = apiVersion] = name.split('/').reverse()
      writeFileSync(join(target, `${group}_${apiVersion}_${kind.toLowerCase()}.json`), JSON.stringify({ ...reference, $defs }))
    }
  }
}

const CLOUD_NATIVE_PG = ['Cluster', 'Pooler', 'ScheduledBackup']

describeSchemas.each(versions)('%s', (version) => {
  let schemas: string
  beforeAll(() => {
    schemas = mkdtempSync(join(tmpdir(), 'vitascope-schemas-'))
    writeSchemas(version, schemas)
  })
  afterAll(() => rmSync(schemas, { recursive: true }))

  /**
   * Validates by kubeconform, which uses the version as group of kinds without a group: it reads
   * `v1_v1_pod.json` and `apps_v1_deployment.json`.
   */
  function check(manifests: readonly Manifest[]): ResultLine[] {
    const location = join(schemas, '{{ .Group }}_{{ .ResourceAPIVersion }}_{{ .ResourceKind }}.json')
    // The CloudNativePG operator is not available as a Go module, so there are no schemas for its
    // kinds.
    const skipped = [...CLOUD_NATIVE_PG.map((kind) => `postgresql.cnpg.io/v1/${kind}`), 'barmancloud.cnpg.io/v1/ObjectStore'].join(',')
    const args = ['-strict', '-verbose', '-output', 'json', '-schema-location', location, '-skip', skipped, '-']
    const input = manifests.map((manifest) => JSON.stringify(manifest)).join('\n---\n')
    const { stdout, stderr } = spawnSync(kubeconformPath() ?? '', args, { input, encoding: 'utf8' })
    if (stdout === '') throw new Error(`kubeconform: ${stderr}`)
    return (JSON.parse(stdout) as { resources: ResultLine[] }).resources
  }

  test.each(Object.keys(valueSets))('accepts all objects of the values %s', (set) => {
    const responses = check(renderOnce(set))
    expect(responses.filter(({ status }) => status !== 'statusValid' && status !== 'statusSkipped')).toEqual([])
    expect(responses).toHaveLength(renderOnce(set).length)
    const complete = set === 'cloudnativepg-complete' ? [...CLOUD_NATIVE_PG, 'ObjectStore'] : []
    const skipped = responses.filter(({ status }) => status === 'statusSkipped').map(({ kind }) => kind)
    expect(skipped.sort()).toEqual(set === 'cloudnativepg' ? ['Cluster'] : complete.sort())
  })

  test('rejects unknown fields, fields of another type, and unknown kinds', () => {
    const [deployment] = renderOnce('evaluation').filter(({ kind }) => kind === 'Deployment') as [Manifest]
    const validateManifest = (manifest: Manifest) => check([manifest]).map(({ status, msg }) => [status, msg])
    expect(validateManifest({ ...deployment, spec: { ...deployment.spec, replica: 1 } })).toEqual([
      ['statusInvalid', expect.stringContaining("additional properties 'replica' not allowed")],
    ])
    expect(validateManifest({ ...deployment, spec: { ...deployment.spec, replicas: 'two' } })).toEqual([
      ['statusInvalid', expect.stringMatching(/replicas': got string, want .*integer/)],
    ])
    expect(validateManifest({ ...deployment, kind: 'Deploiment' })).toEqual([
      ['statusError', expect.stringContaining('could not find schema')],
    ])
  })
})
