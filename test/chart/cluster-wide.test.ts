import { expect, test } from '@jest/globals'
import { describeChart, find, type Manifest, podOf, render } from './support/chart.ts'

const classesOf = (manifests: readonly Manifest[]) =>
  manifests.filter(({ kind }) => kind === 'PriorityClass').map(({ metadata }) => metadata.name)

describeChart('cluster-wide names', () => {
  test('the names of priority classes depend on the release and the value, because values are immutable', () => {
    const manifests = render(['production'])
    const [serving, work] = classesOf(manifests)
    expect([podOf(manifests, 'gateway').priorityClassName, podOf(manifests, 'worker').priorityClassName]).toEqual([serving, work])
    const classesInOtherNamespace = classesOf(render(['production'], {}, ['--namespace', 'other']))
    const ofAnotherValue = classesOf(render(['production'], { priorityClasses: { serving: 2000 } }))
    expect(new Set([...classesOf(manifests), ...classesInOtherNamespace, ...ofAnotherValue]).size).toBe(5)
  })

  test('the port of a gRPC service without TLS is declared as h2c', () => {
    const portsOf = (set: string) => (find(render([set]), 'Service', 'auth').spec as { ports: { appProtocol?: string }[] }).ports
    expect(portsOf('evaluation').map(({ appProtocol }) => appProtocol)).toEqual(['kubernetes.io/h2c'])
    expect(portsOf('production').map(({ appProtocol }) => appProtocol)).toEqual([undefined])
  })
})
