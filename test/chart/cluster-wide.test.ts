import { expect, test } from '@jest/globals'
import { describeChart, find, findPod, type Manifest, render } from './support/chart.ts'

const listPriorityClasses = (manifests: readonly Manifest[]) =>
  manifests.filter(({ kind }) => kind === 'PriorityClass').map(({ metadata }) => metadata.name)

describeChart('cluster-wide names', () => {
  test('the names of priority classes depend on the release and the value, because values are immutable', () => {
    const manifests = render(['production'])
    const [serving, work] = listPriorityClasses(manifests)
    expect([findPod(manifests, 'gateway').priorityClassName, findPod(manifests, 'worker').priorityClassName]).toEqual([serving, work])
    const classesInOtherNamespace = listPriorityClasses(render(['production'], {}, ['--namespace', 'other']))
    const ofAnotherValue = listPriorityClasses(render(['production'], { priorityClasses: { serving: 2000 } }))
    expect(new Set([...listPriorityClasses(manifests), ...classesInOtherNamespace, ...ofAnotherValue]).size).toBe(5)
  })

  test('the port of a gRPC service without TLS is declared as h2c', () => {
    const getPorts = (set: string) => (find(render([set]), 'Service', 'auth').spec as { ports: { appProtocol?: string }[] }).ports
    expect(getPorts('evaluation').map(({ appProtocol }) => appProtocol)).toEqual(['kubernetes.io/h2c'])
    expect(getPorts('production').map(({ appProtocol }) => appProtocol)).toEqual([undefined])
  })
})
