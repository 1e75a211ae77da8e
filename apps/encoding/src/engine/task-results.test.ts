import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { expect, test } from '@jest/globals'
import { testLog } from '@vitascope/testing'
import { untilAborted } from '../common/until-aborted.ts'
import { toResultMessage } from '../task/task-message.ts'
import { createTaskResults } from './task-results.ts'

const files = ['poster.jpg', 'thumbnail.jpg'].map((path) => ({ path, bytes: 9, sha256: 'a'.repeat(64), width: 64, height: 36 }))
const list = Buffer.from(JSON.stringify(files))
const sha256 = createHash('sha256').update(list).digest('hex')
const result = toResultMessage({ kind: 'files', list: { bytes: list.length, sha256 } })
const lease = { itemId: '1', fence: 5 }

/** Creates the results of a job that makes a poster. The check of its files waits for `continueChecks`. */
function openResults() {
  const { promise: checksContinue, resolve: continueChecks } = Promise.withResolvers<void>()
  const recorded: string[] = []
  const prefixes = [{ prefix: 'work/7/5' }, { prefix: 'media/9/7-5' }]
  const tools = {
    db: {
      query: async (text: string) => (text.includes('from object_prefix') ? prefixes : [{ job_id: '7', kind: 'poster', media_id: '9' }]),
    },
    queue: { find: async () => ({ itemId: '1', key: 'job:7', kind: 'poster', payload: {} }) },
    steps: {
      isRecorded: async () => false,
      packaged: async (_lease: unknown, prefix: string) => recorded.push(prefix) > 0,
    },
    storage: {
      async stat(name: string, signal: AbortSignal) {
        if (name.startsWith('media/')) await untilAborted(checksContinue, signal)
        return { name, bytes: 9, modified: new Date() }
      },
      open: async () => ({ stream: Readable.from([list]) }),
    },
    atCrashPoint: () => {},
    log: testLog,
  }
  // The tools have only the functions that record a poster.
  const results = createTaskResults(tools as unknown as Parameters<typeof createTaskResults>[0])
  return { results, recorded, continueChecks }
}

test('a check that takes longer than its call continues, and a repeated call gets its result', async () => {
  const { results, recorded, continueChecks } = openResults()
  const first = new AbortController()
  const call = results.accept(lease, result, first.signal)
  first.abort(new Error('the deadline has passed'))
  await expect(call).rejects.toThrow('the deadline has passed')
  const repeated = results.accept(lease, result, new AbortController().signal)
  continueChecks()
  expect(await repeated).toBe(true)
  expect(recorded).toEqual(['media/9/7-5'])
})

test('a stop ends the running checks', async () => {
  const { results, recorded } = openResults()
  const rejection = expect(results.accept(lease, result, new AbortController().signal)).rejects.toThrow('the service is stopping')
  await results.stop()
  await rejection
  expect(recorded).toEqual([])
})
