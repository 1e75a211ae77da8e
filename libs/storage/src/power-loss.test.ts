// Faults: C21
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type Disk, nodeDisk } from './disk.ts'
import { openFileStorage } from './file-storage.ts'

/**
 * One operation on the disk. Paths are relative to the root. The random names of temporary files
 * are replaced by `T`, `T1`, `T2` and so on, in the order of their creation.
 */
type Step =
  | { op: 'create' | 'write' | 'sync' | 'syncFolder' | 'remove' | 'makeFolder'; path: string }
  | { op: 'link'; from: string; path: string }

let base: string
beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'vitascope-power-'))
})
afterAll(() => rm(base, { recursive: true, force: true }))

test('bytes are synced before their name exists, and the name before put returns', async () => {
  const { steps, put } = await recordedStorage('order')
  await put('a/b/one', Buffer.from('x'))
  expect(steps).toEqual([
    { op: 'create', path: 'T' },
    { op: 'write', path: 'T' },
    { op: 'sync', path: 'T' },
    { op: 'makeFolder', path: 'a' },
    { op: 'syncFolder', path: '' },
    { op: 'makeFolder', path: 'a/b' },
    { op: 'syncFolder', path: 'a' },
    { op: 'link', from: 'T', path: 'a/b/one' },
    { op: 'syncFolder', path: 'a/b' },
    { op: 'remove', path: 'T' },
  ])
})

test('a power loss after any operation leaves no incomplete object, and loses no object whose put returned', async () => {
  const { steps, put } = await recordedStorage('loss')
  const returned: { after: number; name: string }[] = []
  const names = ['m/1/a', 'm/1/b', 'm/2/a', 'm/2/c/d']
  await Promise.all(
    names.map(async (name) => {
      await put(name, randomBytes(200_000))
      returned.push({ after: steps.length, name })
    }),
  )
  for (let count = 0; count <= steps.length; count++) {
    const durable = worstCase(steps.slice(0, count))
    for (const [name, whole] of durable) expect([count, name, whole]).toEqual([count, name, true])
    for (const { after, name } of returned) if (count >= after) expect([count, name, durable.has(name)]).toEqual([count, name, true])
  }
})

test('the disk model detects a name that becomes durable before its bytes', () => {
  const earlyLinkSteps: Step[] = [
    { op: 'create', path: 'T1' },
    { op: 'write', path: 'T1' },
    { op: 'link', from: 'T1', path: 'one' },
    { op: 'syncFolder', path: '' },
  ]
  expect([...worstCase(earlyLinkSteps)]).toEqual([['one', false]])
})

/**
 * Returns the objects in the worst allowed state of a disk after a power failure following these
 * steps, and whether each has all of its bytes. A file has its bytes only if it was synced after
 * the last write. An object may be visible as soon as it is linked, and is certainly durable only
 * when its folders are synced.
 */
function worstCase(steps: readonly Step[]): Map<string, boolean> {
  const whole = new Map<string, boolean>()
  const linked = new Map<string, boolean>()
  const durable = new Set([''])
  const entries = new Set<string>()
  for (const step of steps) {
    if (step.op === 'create' || step.op === 'write') whole.set(step.path, false)
    if (step.op === 'sync') whole.set(step.path, true)
    if (step.op === 'link') linked.set(step.path, whole.get(step.from) ?? false)
    if (step.op === 'makeFolder' || step.op === 'link') entries.add(step.path)
    if (step.op === 'syncFolder') for (const entry of entries) if (toParentFolder(entry) === step.path) durable.add(entry)
  }
  // Incomplete objects count whether or not the name is durable; complete ones only if every folder
  // on the path is durable.
  return new Map([...linked].filter(([name, isWhole]) => !isWhole || ancestors(name).every((path) => durable.has(path))))
}

function toParentFolder(path: string): string {
  const folder = dirname(path)
  return folder === '.' ? '' : folder
}

function ancestors(path: string): string[] {
  return path === '' ? [] : [path, ...ancestors(toParentFolder(path))]
}

async function recordedStorage(folder: string) {
  const root = join(base, folder)
  const steps: Step[] = []
  const temporaryFiles: string[] = []
  const toStepPath = (path: string) => {
    const name = relative(root, path)
    if (!name.startsWith('.incoming/')) return name
    if (!temporaryFiles.includes(name)) temporaryFiles.push(name)
    return temporaryFiles.indexOf(name) === 0 ? 'T' : `T${temporaryFiles.indexOf(name)}`
  }
  const disk: Disk = {
    ...nodeDisk,
    create: async (path) => {
      const file = await nodeDisk.create(path)
      steps.push({ op: 'create', path: toStepPath(path) })
      return {
        write: (bytes) => file.write(bytes).then(() => void steps.push({ op: 'write', path: toStepPath(path) })),
        sync: () => file.sync().then(() => void steps.push({ op: 'sync', path: toStepPath(path) })),
        close: () => file.close(),
      }
    },
    link: (from, to) => nodeDisk.link(from, to).then(() => void steps.push({ op: 'link', from: toStepPath(from), path: toStepPath(to) })),
    remove: (path) => nodeDisk.remove(path).then(() => void steps.push({ op: 'remove', path: toStepPath(path) })),
    syncFolder: (path) => nodeDisk.syncFolder(path).then(() => void steps.push({ op: 'syncFolder', path: toStepPath(path) })),
    makeFolder: async (path) => {
      const created = await nodeDisk.makeFolder(path)
      if (created) steps.push({ op: 'makeFolder', path: toStepPath(path) })
      return created
    },
  }
  const storage = await openFileStorage({ root, disk })
  steps.length = 0
  return { steps, put: (name: string, bytes: Uint8Array) => storage.put(name, bytes) }
}

const rejectLink = () => Promise.reject(Object.assign(new Error('no links here'), { code: 'EPERM' }))

test('without hard links, the same bytes can be put again and other bytes are rejected', async () => {
  const storage = await openFileStorage({ root: join(base, 'nolinks'), disk: { ...nodeDisk, link: rejectLink } })
  await storage.put('one', Buffer.from('x'))
  await storage.put('one', Buffer.from('x'))
  await expect(storage.put('one', Buffer.from('y'))).rejects.toMatchObject({ reason: 'OBJECT_EXISTS' })
  expect(await storage.stat('one')).toMatchObject({ bytes: 1 })
})

test('without hard links, one of several concurrent puts with different bytes succeeds', async () => {
  const storage = await openFileStorage({ root: join(base, 'concurrent'), disk: { ...nodeDisk, link: rejectLink } })
  const puts = Array.from({ length: 20 }, (_, nth) => storage.put('one', Buffer.from('x'.repeat(nth + 1))))
  const results = await Promise.allSettled(puts)
  const stored = results.findIndex(({ status }) => status === 'fulfilled')
  const rejections = results.filter((result) => result.status === 'rejected')
  expect(rejections).toHaveLength(puts.length - 1)
  for (const { reason } of rejections) expect(reason).toMatchObject({ reason: 'OBJECT_EXISTS' })
  expect(await storage.stat('one')).toMatchObject({ bytes: stored + 1 })
})
