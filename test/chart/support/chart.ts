import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from '@jest/globals'
import { helmPath } from '@vitascope/testing'
import { parseAllDocuments } from 'yaml'

/** Folder of the chart. */
export const chart = join(import.meta.dirname, '../../../helm/vitascope')

/**
 * The packed chart of the previous version. Upgrade tests start from it and rollback tests return to it.
 * Replace it with each new version of the chart.
 */
export const previousChart = join(import.meta.dirname, '../previous/vitascope-0.1.0.tgz')
/** Commit from which `previousChart` was packed. */
export const PREVIOUS_COMMIT = 'e530430'

/** Defines tests that require Helm. They are skipped if Helm is not installed. */
export const describeChart = helmPath() === undefined ? describe.skip : describe

/** The components in the order of values.yaml. */
export const components = ['gateway', 'web', 'auth', 'catalogue', 'encoding', 'worker', 'delivery', 'collaboration', 'analytics'] as const
export type Component = (typeof components)[number]

/** Paths of the tested value sets by name: `production` is `ci/production-values.yaml` of the chart. */
export const valueSets: Record<string, string> = {
  evaluation: join(chart, 'values-evaluation.yaml'),
  ...Object.fromEntries(
    readdirSync(join(chart, 'ci'))
      .sort()
      .map((file) => [file.replace('-values.yaml', ''), join(chart, 'ci', file)]),
  ),
}

/** A rendered object, limited to the tested fields. */
export interface Manifest {
  apiVersion: string
  kind: string
  metadata: { name: string; namespace?: string; labels?: Record<string, string>; annotations?: Record<string, string> }
  spec?: Record<string, unknown>
  data?: Record<string, string>
}

/** Specification of a pod, limited to the tested fields. */
export interface PodSpec {
  serviceAccountName: string
  automountServiceAccountToken: boolean
  enableServiceLinks: boolean
  terminationGracePeriodSeconds?: number
  priorityClassName?: string
  nodeSelector?: Record<string, string>
  securityContext: Record<string, unknown>
  topologySpreadConstraints?: { topologyKey: string; matchLabelKeys: string[] }[]
  initContainers?: Container[]
  containers: Container[]
  volumes: {
    name: string
    secret?: { secretName: string; items?: { key: string; path: string }[] }
    configMap?: { name: string }
    [kind: string]: unknown
  }[]
}

/** Container of a pod, limited to the tested fields. */
export interface Container {
  name: string
  image: string
  args: string[]
  env?: { name: string; value?: string; valueFrom?: unknown }[]
  envFrom?: unknown[]
  ports?: { name: string; containerPort: number }[]
  resources: { requests: Record<string, string>; limits: Record<string, string> }
  securityContext: Record<string, unknown>
  startupProbe?: unknown
  livenessProbe?: Record<string, unknown>
  readinessProbe?: Record<string, unknown>
  lifecycle?: { preStop: { sleep: { seconds: number } } }
  volumeMounts: { name: string; mountPath: string; readOnly?: boolean }[]
}

/**
 * Renders the chart by `helm template` as the release `videos` in the namespace `vitascope`. `sets` are
 * names of value sets or paths of values files. Later sets override earlier ones, and `values` override
 * all sets. Throws an error with Helm's error message.
 */
export function render(sets: readonly string[], values: object = {}, flags: readonly string[] = []): Manifest[] {
  const { code, out, err } = template(sets, values, flags)
  if (code !== 0) throw new Error(err)
  return parseAllDocuments(out)
    .map((document) => {
      if (document.errors[0]) throw document.errors[0]
      return document.toJS() as Manifest | null
    })
    .filter((manifest) => manifest !== null)
}

const rendered = new Map<string, Manifest[]>()

/** Renders a value set, or returns the result of an earlier call of the same test file. */
export function renderOnce(set: string): Manifest[] {
  const cached = rendered.get(set) ?? render([set])
  rendered.set(set, cached)
  return cached
}

/** Returns Helm's error message, or an empty text on success. */
export function renderError(sets: readonly string[], values: object = {}): string {
  const { code, err } = template(sets, values, [])
  return code === 0 ? '' : err
}

/** Runs `helm template` with these values. */
function template(sets: readonly string[], values: object, flags: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'vitascope-chart-'))
  try {
    const file = join(folder, 'values.json')
    writeFileSync(file, JSON.stringify(values))
    const files = [...sets.map((name) => valueSets[name] ?? name), file].flatMap((path) => ['--values', path])
    return helm(['template', 'videos', chart, '--namespace', 'vitascope', ...files, ...flags])
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Runs Helm without a cluster. Throws an error if it is not installed. */
export function helm(args: readonly string[]): { code: number; out: string; err: string } {
  const program = helmPath()
  if (program === undefined) throw new Error('helm is not installed')
  const env = { PATH: process.env['PATH'], HOME: tmpdir(), KUBECONFIG: '/dev/null' }
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', env, maxBuffer: 64 * 1024 * 1024 })
  return { code: status ?? 1, out: stdout, err: stderr }
}

/** Returns the only object of a kind and a component. Throws an error if there are none or several. */
export function find(manifests: readonly Manifest[], kind: string, component: string): Manifest {
  const matches = manifests.filter((manifest) => manifest.kind === kind && getComponent(manifest) === component)
  if (matches.length !== 1) throw new Error(`${matches.length} objects of the kind ${kind} for ${component}`)
  return matches[0] as Manifest
}

/** Returns the component that the labels of an object name. */
export function getComponent({ metadata }: Manifest): string | undefined {
  return metadata.labels?.['app.kubernetes.io/component']
}

/** Returns the first container of a pod, which runs the program of the component. */
export const main = (pod: PodSpec): Container => pod.containers[0] as Container

export const findVolume = (pod: PodSpec, name: string) => pod.volumes.find((candidate) => candidate.name === name)

/**
 * Returns all objects that create pods, each with its component and the specification of its pods:
 * workloads, Jobs, CronJobs, ScaledJobs, the pod of `helm test`, and the ConfigMap with the pod template
 * of encoding's Jobs as the component `encode`.
 */
export function workloads(manifests: readonly Manifest[]): { manifest: Manifest; component: string; pod: PodSpec }[] {
  const fromWorkloads = manifests
    .filter(({ kind }) => ['Deployment', 'StatefulSet', 'Job', 'DaemonSet', 'CronJob'].includes(kind))
    .map((manifest) => {
      const spec = manifest.spec as { template: { spec: PodSpec }; jobTemplate?: { spec: { template: { spec: PodSpec } } } }
      const { template } = spec.jobTemplate?.spec ?? spec
      return { manifest, component: getComponent(manifest) ?? '', pod: template.spec }
    })
  const fromPodTemplates = manifests.flatMap((manifest) => {
    const text = manifest.kind === 'ConfigMap' ? manifest.data?.['pod-template.json'] : undefined
    return text === undefined ? [] : [{ manifest, component: 'encode', pod: (JSON.parse(text) as { spec: PodSpec }).spec }]
  })
  const fromScaledJobs = manifests
    .filter(({ kind }) => kind === 'ScaledJob')
    .map((manifest) => {
      const { jobTargetRef } = manifest.spec as { jobTargetRef: { template: { spec: PodSpec } } }
      return { manifest, component: getComponent(manifest) ?? '', pod: jobTargetRef.template.spec }
    })
  const singlePods = manifests
    .filter(({ kind }) => kind === 'Pod')
    .map((manifest) => ({ manifest, component: getComponent(manifest) ?? '', pod: manifest.spec as unknown as PodSpec }))
  return [...fromWorkloads, ...fromPodTemplates, ...fromScaledJobs, ...singlePods]
}

/** Returns the specification of the pods of a component. Throws an error if no object creates such pods. */
export function findPod(manifests: readonly Manifest[], component: string): PodSpec {
  const workload = workloads(manifests).find((candidate) => candidate.component === component)
  if (!workload) throw new Error(`no workload of ${component}`)
  return workload.pod
}

/** Returns the environment variables of a component's process. Those without a literal value are empty. */
export function readSettings(manifests: readonly Manifest[], component: string): Record<string, string> {
  const [container] = findPod(manifests, component).containers
  return Object.fromEntries((container?.env ?? []).map(({ name, value }) => [name, value ?? '']))
}

/** Returns the configuration files of nginx in the pods of delivery; empty texts without nginx. */
export function nginxFiles(manifests: readonly Manifest[]): { main: string; server: string } {
  const config = manifests.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name.endsWith('-nginx'))
  return { main: config?.data?.['nginx.conf'] ?? '', server: config?.data?.['server.conf'] ?? '' }
}

/** Returns the init containers and the containers of a pod. */
export function listContainers(pod: PodSpec): Container[] {
  return [...(pod.initContainers ?? []), ...pod.containers]
}
