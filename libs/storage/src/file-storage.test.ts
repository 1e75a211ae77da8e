// Faults: B10
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { link, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { openFileStorage } from './file-storage.ts'
import type { ObjectStorage } from './object-storage.ts'
import { storageSuite } from './storage-suite.ts'

storageSuite('the file store', async () => {
  const root = await mkdtemp(join(tmpdir(), 'vitascope-files-'))
  return { storage: await openFileStorage({ root }), close: () => rm(root, { recursive: true }) }
})

describe('a file store', () => {
  let base: string
  let root: string
  let storage: ObjectStorage

  beforeAll(async () => {
    base = await mkdtemp(join(tmpdir(), 'vitascope-files-'))
    root = join(base, 'objects')
    storage = await openFileStorage({ root })
  })
  afterAll(() => rm(base, { recursive: true, force: true }))

  test('downloads an object as a hard link without write permission', async () => {
    await storage.put('linked/one', randomBytes(1000))
    await storage.download('linked/one', join(base, 'link'))
    const [object, target] = await Promise.all([stat(join(root, 'linked/one')), stat(join(base, 'link'))])
    expect(target.ino).toBe(object.ino)
    expect(target.mode & 0o222).toBe(0)
  })

  test('moves a file without copying it', async () => {
    const file = join(base, 'moved')
    await writeFile(file, randomBytes(1000))
    const { ino } = await stat(file)
    await storage.put('moved/one', { file, move: true })
    expect((await stat(join(root, 'moved/one'))).ino).toBe(ino)
  })

  test('keeps the source file when put is rejected', async () => {
    const file = join(base, 'rejected')
    await writeFile(file, 'mine')
    await storage.put('rejected/one', Buffer.from('theirs'))
    await expect(storage.put('rejected/one', { file, move: true })).rejects.toMatchObject({ reason: 'OBJECT_EXISTS' })
    expect(await readFile(file, 'utf8')).toBe('mine')
  })

  test('never follows a symbolic link in the store', async () => {
    const secret = join(base, 'secret')
    await mkdir(secret)
    await writeFile(join(secret, 'file'), 'secret')
    await mkdir(join(root, 'evil'))
    await symlink(secret, join(root, 'evil/folder'))
    await symlink(join(secret, 'file'), join(root, 'evil/file'))
    for (const name of ['evil/folder/file', 'evil/file']) {
      await expect(storage.open(name)).rejects.toMatchObject({ reason: 'OBJECT_NOT_FOUND' })
      await expect(storage.download(name, join(base, 'out'))).rejects.toMatchObject({ reason: 'OBJECT_NOT_FOUND' })
      await expect(storage.put(name, Buffer.from('x'))).rejects.toMatchObject({ reason: 'OBJECT_EXISTS' })
      expect(await storage.stat(name)).toBeUndefined()
      expect(await storage.delete(name)).toBe(false)
    }
    await expect(storage.put('evil/folder/new', Buffer.from('x'))).rejects.toMatchObject({ reason: 'OBJECT_EXISTS' })
    for await (const { name } of storage.list('evil')) throw new Error(`listed ${name}`)
    expect(await storage.deletePrefix('evil')).toBe(0)
    expect(await readdir(secret)).toEqual(['file'])
  })

  test('rejects an object and a folder of the same name', async () => {
    await storage.put('shared/one', Buffer.from('x'))
    await expect(storage.put('shared/one/two', Buffer.from('x'))).rejects.toMatchObject({ reason: 'OBJECT_EXISTS' })
    await expect(storage.put('shared', Buffer.from('x'))).rejects.toMatchObject({ reason: 'OBJECT_EXISTS' })
  })

  test('removes incomplete files that were not changed for the given time when it is opened', async () => {
    const incoming = join(root, '.incoming')
    await writeFile(join(incoming, 'left'), 'x')
    await openFileStorage({ root })
    expect(await readdir(incoming)).toEqual(['left'])
    await openFileStorage({ root, staleAfterMs: 0 })
    expect(await readdir(incoming)).toEqual([])
  })

  test('keeps the link of a file that is being moved when it is opened, although the file is old', async () => {
    const [file, moving] = [join(base, 'old'), join(root, '.incoming/moving')]
    await writeFile(file, 'x')
    await utimes(file, new Date(), new Date(Date.now() - 7_200_000))
    await link(file, moving)
    await openFileStorage({ root })
    expect(await readdir(join(root, '.incoming'))).toEqual(['moving'])
    await rm(moving)
  })

  test('removes a folder with its last object', async () => {
    await storage.put('deep/er/and/deeper', Buffer.from('x'))
    await storage.deletePrefix('deep')
    expect(await readdir(root)).not.toContain('deep')
    expect(await readdir(join(root, '.incoming'))).toEqual([])
  })
})

const canMount = await promisify(execFile)('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'none', '/mnt']).then(
  () => true,
  () => false,
)

;(canMount ? test : test.skip)(
  'a full disk rejects the object and keeps no part of it, and stores objects again after space is freed',
  async () => {
    const mount = await mkdtemp(join(tmpdir(), 'vitascope-full-'))
    try {
      const script = fileURLToPath(new URL('../test/full-disk.ts', import.meta.url))
      const command = 'mount -t tmpfs -o size=1m none "$1" && exec "$2" "$3" "$1"'
      const { stdout } = await promisify(execFile)('unshare', ['-rm', 'sh', '-c', command, 'sh', mount, process.execPath, script])
      expect(JSON.parse(stdout)).toEqual({
        domainError: ['unavailable', 'STORAGE_FULL'],
        names: ['small'],
        incomingFiles: [],
        bytesStoredLater: 1 << 19,
      })
    } finally {
      await rm(mount, { recursive: true })
    }
  },
)
