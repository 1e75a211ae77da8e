import { expect, test } from '@jest/globals'
import { describeChart, find, type Manifest, podOf, render } from './support/chart.ts'

const classesOf = (manifests: readonly Manifest[]) =>
  manifests.filter(({ kind }) => kind === 'PriorityClass').map(({ metadata }) => metadata.name)

describeChart('what stands beside namespaces', () => {
  test('classes of priority are those of one release, and of one value, which cannot be changed', () => {
    const manifests = render(['production'])
    const [serving, work] = classesOf(manifests)
    expect([podOf(manifests, 'gateway').priorityClassName, podOf(manifests, 'worker').priorityClassName]).toEqual([serving, work])
    const inAnother = classesOf(render(['production'], {}, ['--namespace', 'other']))
    const ofAnotherValue = classesOf(render(['production'], { priorityClasses: { serving: 2000 } }))
    expect(new Set([...classesOf(manifests), ...inAnother, ...ofAnotherValue]).size).toBe(5)
  })

  test('a port that only serves HTTP/2 is declared as plain HTTP/2', () => {
    const portsOf = (set: string) => (find(render([set]), 'Service', 'auth').spec as { ports: { appProtocol?: string }[] }).ports
    expect(portsOf('evaluation').map(({ appProtocol }) => appProtocol)).toEqual(['kubernetes.io/h2c'])
    expect(portsOf('production').map(({ appProtocol }) => appProtocol)).toEqual([undefined])
  })
})
