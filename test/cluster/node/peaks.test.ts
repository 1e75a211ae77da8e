import { expect, test } from '@jest/globals'
import { createPeakTracker } from './peaks.ts'

test('keeps the peak memory, and the peak CPU usage over ten seconds, of the containers of each kind', () => {
  const peaks = createPeakTracker()
  const pod = (containerID: string) => ({
    metadata: { namespace: 'videos', labels: { 'app.kubernetes.io/component': 'auth' } },
    spec: { containers: [{ name: 'auth' }] },
    status: {
      containerStatuses: [
        { name: 'auth', containerID: `containerd://${containerID}`, image: '', imageID: '', ready: true, restartCount: 0 },
      ],
    },
  })
  peaks.addPod(pod('one'))
  peaks.addPod(pod('two'))
  for (let second = 0; second <= 20; second++)
    peaks.addSample(
      [
        { podUid: '1', containerId: 'one', memoryBytes: second === 5 ? 90 * 2 ** 20 : 2 ** 20, cpuSeconds: second / 4 },
        { podUid: '2', containerId: 'two', memoryBytes: 2 ** 20, cpuSeconds: second < 10 ? 0 : (second - 10) / 2 },
        { podUid: '3', containerId: 'unknown', memoryBytes: 2 ** 40, cpuSeconds: 1 },
      ],
      second * 1_000,
    )
  expect(peaks.all()).toEqual([{ kind: 'videos/auth', containers: 2, memoryMib: 90, cores: 0.5 }])
})
