import { expect, test } from '@jest/globals'
import { createPeaks } from './peaks.ts'

test('the most that any container of a kind used is kept, of processors over ten looks', () => {
  const peaks = createPeaks()
  const pod = (containerID: string) => ({
    metadata: { namespace: 'videos', labels: { 'app.kubernetes.io/component': 'auth' } },
    spec: { containers: [{ name: 'auth' }] },
    status: {
      containerStatuses: [
        { name: 'auth', containerID: `containerd://${containerID}`, image: '', imageID: '', ready: true, restartCount: 0 },
      ],
    },
  })
  peaks.know(pod('one'))
  peaks.know(pod('two'))
  for (let second = 0; second <= 20; second++)
    peaks.see(
      [
        { podUid: '1', containerId: 'one', memoryBytes: second === 5 ? 90 * 2 ** 20 : 2 ** 20, cpuSeconds: second / 4 },
        { podUid: '2', containerId: 'two', memoryBytes: 2 ** 20, cpuSeconds: second < 10 ? 0 : (second - 10) / 2 },
        { podUid: '3', containerId: 'of nobody', memoryBytes: 2 ** 40, cpuSeconds: 1 },
      ],
      second * 1_000,
    )
  expect(peaks.all()).toEqual([{ kind: 'videos/auth', containers: 2, memoryMib: 90, cores: 0.5 }])
})
