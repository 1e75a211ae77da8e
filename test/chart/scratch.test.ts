import { expect, test } from '@jest/globals'
import { describeChart, findPod, findVolume, main, readSettings, render, renderOnce } from './support/chart.ts'

describeChart('scratch folders', () => {
  test('the scratch folder of workers is a volume, with the configured storage class', () => {
    expect(findVolume(findPod(renderOnce('evaluation'), 'worker'), 'scratch')).toMatchObject({ emptyDir: { sizeLimit: '200Gi' } })
    expect(findVolume(findPod(renderOnce('production'), 'worker'), 'scratch')).toMatchObject({
      ephemeral: { volumeClaimTemplate: { spec: { storageClassName: 'fast', resources: { requests: { storage: '200Gi' } } } } },
    })
  })

  test.each<[string, 'encoding' | 'worker', object, string]>([
    ['2 GiB by default', 'worker', {}, '2112Mi'],
    ['2 GiB by default', 'encoding', {}, '2112Mi'],
    ['another request', 'worker', { scratch: { request: '1.5Gi' }, resources: { requests: { 'ephemeral-storage': '1G' } } }, '2490Mi'],
    ['nothing', 'worker', { scratch: { request: '' } }, '64Mi'],
    ['nothing with a storage class', 'worker', { scratch: { storageClass: 'fast' } }, '64Mi'],
  ])('requests %s of the node for the scratch folder of %s', (_, name, values, request) => {
    const { requests, limits } = main(findPod(render(['evaluation'], { [name]: values }), name)).resources
    expect(requests['ephemeral-storage']).toBe(request)
    expect(limits['ephemeral-storage']).toBe(name === 'worker' ? '201Gi' : '51Gi')
  })

  test.each([
    ['200Gi', '204010946560'],
    ['1.5Ti', '1566804069580'],
    ['500G', '475000000000'],
  ])('a worker with a scratch volume of %s uses 95 % of it', (size, bytes) => {
    const values = { worker: { scratch: { size, storageClass: 'fast' } } }
    const settings = readSettings(render(['evaluation'], values), 'worker')
    expect(settings).toMatchObject({ VITASCOPE_SCRATCH_BYTES: bytes })
    expect(settings).not.toHaveProperty('VITASCOPE_SCRATCH_SPARE_PERCENT')
  })

  test('a worker leaves free space on the disk of its node', () => {
    expect(readSettings(renderOnce('evaluation'), 'worker')).toMatchObject({ VITASCOPE_SCRATCH_SPARE_PERCENT: '15' })
  })
})
