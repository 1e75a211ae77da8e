import { describe, expect, test } from '@jest/globals'
import { collectorPath, waitFor } from '@vitascope/testing'
import { kill, listFfmpegs } from './support/nemesis.ts'
import { buildTrees } from './support/span-tree.ts'
import { setUpTracedPlatform } from './support/traced-platform.ts'
import { waitUntilSettled } from './support/video-steps.ts'

const withCollector = collectorPath() === undefined ? describe.skip : describe
const CREATE_JOB = 'vitascope.encoding.v1.JobService/CreateJob'

withCollector('traces', () => {
  const traced = setUpTracedPlatform()
  const { findTrace, sampled, uploadFromUrl } = traced

  test('killing encoding and the worker during a job keeps one trace', async () => {
    const traceId = '22222222222222222222222222222222'
    const id = await uploadFromUrl('minute.mp4', sampled(traceId))
    const names = async () => (await findTrace(traceId)).map(({ name }) => name)
    // Spans are sent within a second. Those that are not sent are lost by a kill.
    const isSent = async () => (await names()).includes('task fetch') && (await names()).includes('task probe')
    await waitFor(isSent, { timeout: 60_000, describe: 'the spans before the first chunk' })
    for (const name of ['encoding', 'worker']) {
      await waitFor(() => listFfmpegs(traced.platform.pid('worker')).length > 0, { timeout: 60_000, describe: 'ffmpeg to start' })
      expect(kill(traced.platform, name)).toBe(true)
    }
    expect((await waitUntilSettled(traced.owner, id)).status.status).toBe('ok')
    await waitFor(async () => (await findTrace(traceId)).some(({ name }) => name === 'send job.ended'), { timeout: 30_000 })
    const spans = await findTrace(traceId)
    const accepted = spans.find(({ name, service }) => name === CREATE_JOB && service === 'encoding')
    const tasks = spans.filter(({ name }) => /^task /.test(name))
    expect(tasks.map(({ name }) => name)).toEqual(expect.arrayContaining(['task fetch', 'task probe', 'task encode', 'task package']))
    expect(new Set(tasks.map(({ parentSpanId }) => parentSpanId))).toEqual(new Set([accepted?.spanId]))
    // A parent can be missing only if its process was killed before it had sent it.
    const [request, ...orphans] = buildTrees(spans).sort((a, b) => Number(a.span.startTime - b.span.startTime))
    expect(request?.span.name).toBe('POST /v2/video/upload')
    for (const { span } of orphans) expect(['encoding', 'worker', 'catalogue']).toContain(span.service)
    const fences = spans.map(({ attributes }) => attributes['vitascope.fence']).filter((fence) => fence !== undefined)
    expect(new Set(fences).size).toBe(fences.length)
  }, 240_000)
})
