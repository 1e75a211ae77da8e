// Generates test/chart/schemas: the schemas of the kinds that the chart creates, of three
// Kubernetes versions and of the operators that the chart supports. They are reduced from Go
// modules and committed, so that tests need neither Go nor network access. Run it manually to add a
// kind or a version:
//   node test/chart/kubernetes-schemas.ts
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { moduleFolder } from '../../tools/lib/go-module.ts'
import { root } from '../../tools/lib/run-command.ts'

const versions = ['v1.30.14', 'v1.34.4', 'v1.37.2']

const kinds = [
  'v1/ConfigMap v1/Namespace v1/ResourceQuota v1/PersistentVolumeClaim v1/Secret v1/Service v1/ServiceAccount v1/Pod',
  'apps/v1/Deployment apps/v1/StatefulSet batch/v1/Job batch/v1/CronJob autoscaling/v2/HorizontalPodAutoscaler policy/v1/PodDisruptionBudget',
  'networking.k8s.io/v1/Ingress networking.k8s.io/v1/NetworkPolicy scheduling.k8s.io/v1/PriorityClass',
  'rbac.authorization.k8s.io/v1/Role rbac.authorization.k8s.io/v1/RoleBinding',
  'admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy admissionregistration.k8s.io/v1/ValidatingAdmissionPolicyBinding',
].flatMap((line) => line.split(' '))

/** Custom resource definitions: module, file, version of the kind. */
const operators = [
  ['sigs.k8s.io/gateway-api@v1.5.1', 'config/crd/standard/gateway.networking.k8s.io_httproutes.yaml', 'v1'],
  ['github.com/cert-manager/cert-manager@v1.21.2', 'deploy/crds/cert-manager.io_certificates.yaml', 'v1'],
  ['github.com/cert-manager/cert-manager@v1.21.2', 'deploy/crds/cert-manager.io_issuers.yaml', 'v1'],
  ['github.com/kedacore/keda/v2@v2.21.0', 'config/crd/bases/keda.sh_scaledjobs.yaml', 'v1alpha1'],
  ['github.com/kedacore/keda/v2@v2.21.0', 'config/crd/bases/keda.sh_scaledobjects.yaml', 'v1alpha1'],
  [
    'github.com/prometheus-operator/prometheus-operator@v0.85.0',
    'example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml',
    'v1',
  ],
  [
    'github.com/prometheus-operator/prometheus-operator@v0.85.0',
    'example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml',
    'v1',
  ],
] as const

type Schema = { [key: string]: unknown }

/** A file of schemas: references by `group/version/Kind`, and their definitions. */
interface SchemaFile {
  kinds: Record<string, { $ref: string }>
  $defs: Record<string, unknown>
}

const folder = join(root, 'test/chart/schemas')
mkdirSync(folder, { recursive: true })
for (const version of versions) write(`kubernetes-${version.replace(/[.]\d+$/, '')}`, await ofKubernetes(version))
write('operators', await ofOperators())

function write(name: string, file: SchemaFile): void {
  const text = `${JSON.stringify(file)}\n`
  writeFileSync(join(folder, `${name}.json`), text)
  console.log(`${name}.json: ${Object.keys(file.kinds).length} kinds, ${Math.round(text.length / 1024)} KiB`)
}

async function ofKubernetes(version: string): Promise<SchemaFile> {
  const swagger = JSON.parse(
    readFileSync(join(await moduleFolder(`k8s.io/kubernetes@${version}`), 'api/openapi-spec/swagger.json'), 'utf8'),
  )
  const definitions = swagger.definitions as Record<string, Schema>
  const schemasByName = new Map(
    Object.entries(definitions).flatMap(([name, { 'x-kubernetes-group-version-kind': gvks }]) =>
      ((gvks ?? []) as { group: string; version: string; kind: string }[]).map((gvk) => [
        [gvk.group, gvk.version, gvk.kind].filter((part) => part !== '').join('/'),
        name,
      ]),
    ),
  )
  const file: SchemaFile = { kinds: {}, $defs: {} }
  const collect = (name: string) => {
    if (name in file.$defs) return
    file.$defs[name] = {}
    const definition = definitions[name]
    if (!definition) throw new Error(`Kubernetes ${version} has no ${name}`)
    const schema = strict(definition)
    file.$defs[name] = schema
    for (const reference of listReferences(schema)) collect(reference)
  }
  for (const kind of kinds) {
    const name = schemasByName.get(kind)
    if (name === undefined) throw new Error(`Kubernetes ${version} has no ${kind}`)
    file.kinds[kind] = { $ref: `#/$defs/${name}` }
    collect(name)
  }
  return file
}

async function ofOperators(): Promise<SchemaFile> {
  const file: SchemaFile = { kinds: {}, $defs: {} }
  for (const [module, path, version] of operators) {
    const { spec } = parse(readFileSync(join(await moduleFolder(module), path), 'utf8')) as {
      spec: { group: string; names: { kind: string }; versions: { name: string; schema: { openAPIV3Schema: Schema } }[] }
    }
    const schema = spec.versions.find(({ name }) => name === version)?.schema.openAPIV3Schema
    if (!schema) throw new Error(`${path} has no ${version}`)
    const name = `${spec.group}.${version}.${spec.names.kind}`
    file.kinds[`${spec.group}/${version}/${spec.names.kind}`] = { $ref: `#/$defs/${name}` }
    const definition = strict(schema) as { properties: Schema }
    file.$defs[name] = { ...definition, properties: { ...definition.properties, metadata: { type: 'object' } } }
  }
  return file
}

/** Returns a schema without descriptions that allows only the listed properties. */
function strict(schema: Schema): Schema {
  if ('$ref' in schema) {
    const name = String(schema['$ref']).replace('#/definitions/', '')
    if (name.endsWith('.IntOrString')) return { type: ['integer', 'string'] }
    if (name.endsWith('.Quantity')) return { type: ['number', 'string'] }
    if (name.endsWith('.Time') || name.endsWith('.MicroTime')) return { type: ['string', 'null'] }
    return { $ref: `#/$defs/${name}` }
  }
  if (schema['x-kubernetes-int-or-string'] === true) return { type: ['integer', 'string'] }
  const schemaKeys = ['type', 'enum', 'required', 'pattern', 'minimum', 'maximum', 'minItems', 'maxItems', 'minLength', 'maxLength']
  const reduced: Schema = Object.fromEntries(schemaKeys.flatMap((key) => (key in schema ? [[key, schema[key]]] : [])))
  if (!isReadable(reduced['pattern'])) delete reduced['pattern']
  if (typeof schema['items'] === 'object') reduced['items'] = strict(schema['items'] as Schema)
  const additional = schema['additionalProperties']
  if (typeof additional === 'object') reduced['additionalProperties'] = strict(additional as Schema)
  if (typeof schema['properties'] === 'object') {
    reduced['properties'] = Object.fromEntries(
      Object.entries(schema['properties'] as Record<string, Schema>).map(([key, value]) => [key, strict(value)]),
    )
    if (schema['x-kubernetes-preserve-unknown-fields'] !== true && additional === undefined) reduced['additionalProperties'] = false
  }
  return reduced
}

/**
 * Returns true for a pattern that JavaScript accepts. The patterns are written for Go, and a few
 * are invalid in JavaScript.
 */
function isReadable(pattern: unknown): boolean {
  try {
    return typeof pattern === 'string' && new RegExp(pattern) !== undefined
  } catch {
    return false
  }
}

function listReferences(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  return Object.entries(schema).flatMap(([key, value]) =>
    key === '$ref' && typeof value === 'string' ? [value.replace('#/$defs/', '')] : listReferences(value),
  )
}
