import { expect, test } from '@jest/globals'
import { DomainError } from '@vitascope/errors'
import type { AppendEntriesRequest } from '@vitascope/proto/auth/v1/audit'
import { testLog, waitFor } from '@vitascope/testing'
import { createAuditLog, type Write } from './audit-log.ts'

const write: Write = { organisationId: '1', userId: '2', keyStart: 'a', action: 'b', object: '/c', requestId: '', address: '' }

/** Creates an audit log. Each call to auth is pending until the test calls `finish`. */
function controlledLog() {
  const calls: Partial<AppendEntriesRequest>[] = []
  const running: { resolve: () => void; reject: (error: Error) => void }[] = []
  const log = createAuditLog({
    audit: {
      async appendEntries(request) {
        calls.push(request)
        await new Promise<void>((resolve, reject) => running.push({ resolve, reject }))
        return {}
      },
    },
    log: testLog,
  })
  const waitForCall = (count: number) => waitFor(async () => calls.length === count, { describe: `call ${count} to auth` })
  const finish = () => running.shift()?.resolve()
  /** Writes an entry and returns the function that records its outcome. */
  const writeEntry = async () => {
    const [intent] = [log.recordIntent(write), await waitForCall(calls.length + 1)]
    finish()
    return await intent
  }
  return { log, calls, running, waitForCall, finish, writeEntry }
}

test('an entry that arrives while outcomes are sent waits for the end of that call', async () => {
  const { log, calls, running, waitForCall, finish, writeEntry } = controlledLog()
  const end = await writeEntry()
  end({ status: 200, createdId: '' })
  await waitForCall(2)
  expect(calls[1]).toMatchObject({ entries: [], outcomes: [{ status: 200 }] })
  const intent = log.recordIntent(write)
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
  expect(running).toHaveLength(1)
  finish()
  await waitForCall(3)
  finish()
  await intent
  expect(calls[2]).toMatchObject({ entries: [{ action: 'b' }], outcomes: [] })
})

test('outcomes of a failed call are sent again, before newer ones', async () => {
  const { log, calls, running, waitForCall, finish, writeEntry } = controlledLog()
  const ends = [await writeEntry(), await writeEntry()]
  ends[0]?.({ status: 201, createdId: '1' })
  await waitForCall(3)
  ends[1]?.({ status: 204, createdId: '' })
  running.shift()?.reject(new DomainError('unavailable', 'DATABASE_UNAVAILABLE', 'unavailable'))
  const intent = log.recordIntent(write)
  await waitForCall(4)
  finish()
  await intent
  expect(calls[3]?.outcomes?.map(({ status }) => status)).toEqual([201, 204])
})

test('stop sends the pending outcomes after the call in progress', async () => {
  const { log, calls, waitForCall, finish, writeEntry } = controlledLog()
  const end = await writeEntry()
  const intent = log.recordIntent(write)
  await waitForCall(2)
  end({ status: 200, createdId: '' })
  const stopped = log.stop()
  finish()
  await intent
  await waitForCall(3)
  finish()
  await stopped
  expect(calls[2]).toMatchObject({ entries: [], outcomes: [{ status: 200 }] })
})
