import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { Ajv, type ValidateFunction } from 'ajv'
import { describeChart, type Manifest, render, valueSets } from './support/chart.ts'

const folder = join(import.meta.dirname, 'schemas')
const versions = readdirSync(folder).filter((file) => file.startsWith('kubernetes-'))

/** Checks of one version of Kubernetes, with the operators that the chart knows: by `group/version/Kind`. */
function checksOf(version: string): (kind: string) => ValidateFunction | undefined {
  const ajv = new Ajv({ strict: false, unicodeRegExp: false, validateFormats: false })
  const known = new Map<string, string>()
  for (const file of [version, 'operators.json']) {
    const { kinds, $defs } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as {
      kinds: Record<string, { $ref: string }>
      $defs: object
    }
    ajv.addSchema({ $id: file, $defs })
    for (const [kind, { $ref }] of Object.entries(kinds)) known.set(kind, `${file}${$ref}`)
  }
  return (kind) => {
    const reference = known.get(kind)
    return reference === undefined ? undefined : ajv.getSchema(reference)
  }
}

const rendered = new Map<string, Manifest[]>()
function manifestsOf(set: string): Manifest[] {
  const known = rendered.get(set) ?? render([set])
  rendered.set(set, known)
  return known
}

describeChart.each(versions)('%s', (version) => {
  const checkOf = checksOf(version)
  const faultsOf = (manifest: Manifest): string[] => {
    const check = checkOf(`${manifest.apiVersion}/${manifest.kind}`)
    if (!check) return ['no such kind']
    return check(manifest)
      ? []
      : (check.errors ?? []).map(({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`)
  }

  test.each(Object.keys(valueSets))('takes what the values %s make', (set) => {
    // The operator of CloudNativePG is no Go module that can be fetched, so there is no schema of its clusters.
    const manifests = manifestsOf(set).filter(({ apiVersion }) => apiVersion !== 'postgresql.cnpg.io/v1')
    for (const manifest of manifests)
      expect([manifest.kind, manifest.metadata.name, ...faultsOf(manifest)]).toEqual([manifest.kind, manifest.metadata.name])
  })

  test('does not take a field that is none, nor one of another type', () => {
    const [deployment] = manifestsOf('demo').filter(({ kind }) => kind === 'Deployment') as [Manifest]
    expect(faultsOf({ ...deployment, spec: { ...deployment.spec, replica: 1 } })).toEqual([
      expect.stringContaining('must NOT have additional properties'),
    ])
    expect(faultsOf({ ...deployment, spec: { ...deployment.spec, replicas: 'two' } })).toEqual([
      expect.stringContaining('/spec/replicas must be integer'),
    ])
  })
})
