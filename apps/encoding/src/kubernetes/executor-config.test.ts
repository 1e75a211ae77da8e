import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { readEnvironment } from '@vitascope/config'
import { readExecutor } from './executor-config.ts'

const folder = mkdtempSync(join(tmpdir(), 'vitascope-executor-'))
afterAll(() => rmSync(folder, { recursive: true }))

const template = (content: unknown): string => {
  const file = join(folder, 'pod.json')
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  return file
}
const read = (env: Record<string, string>) => {
  const reader = readEnvironment(env)
  const settings = readExecutor(reader)
  reader.check()
  return settings
}
const base = { VITASCOPE_EXECUTOR: 'kubernetes', VITASCOPE_KUBERNETES_NAMESPACE: 'media' }

test('without Kubernetes settings, workers encode', () => {
  expect(read({})).toBeUndefined()
  expect(() => read({ VITASCOPE_EXECUTOR: 'swarm' })).toThrow('VITASCOPE_EXECUTOR must be one of worker, kubernetes')
})

test('Kubernetes requires only a namespace and a template', () => {
  const pod = { spec: { containers: [{ name: 'worker', image: 'i' }] } }
  expect(read({ ...base, VITASCOPE_KUBERNETES_POD_TEMPLATE: template(pod) })).toEqual({
    namespace: 'media',
    instance: 'vitascope',
    template: pod,
    kubeconfig: undefined,
    owner: undefined,
    queue: undefined,
    parallelism: 4,
    cpu: '1',
    deadlineSeconds: 86_400,
    ttlSeconds: 3_600,
    stallSeconds: 300,
  })
})

test.each([
  ['not JSON', 'kind: Pod', 'is not valid JSON'],
  ['not a pod', { containers: [] }, 'must be a pod template with spec.containers'],
  ['a pod without the worker container', { spec: { containers: [{ name: 'main' }] } }, 'must have a container named worker'],
])('rejects a template that is %s', (_, content, problem) => {
  expect(() => read({ ...base, VITASCOPE_KUBERNETES_POD_TEMPLATE: template(content) })).toThrow(problem)
})

test('reports every invalid setting at once', () => {
  const bad = {
    VITASCOPE_EXECUTOR: 'kubernetes',
    VITASCOPE_KUBERNETES_INSTANCE: 'Too Long A Name Of A Release',
    VITASCOPE_KUBERNETES_CPU: 'two',
  }
  expect(() => read(bad)).toThrow(/INSTANCE[\s\S]*CPU[\s\S]*NAMESPACE is missing[\s\S]*POD_TEMPLATE is missing/)
})
