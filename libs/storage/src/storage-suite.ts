import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { lstat, mkdir, mkdtemp, open as openFile, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { ObjectStorage, RangeRequest } from './object-storage.ts'

/**
 * Tests that every store must pass. `open` returns an empty store and a function that closes it.
 */
export function storageSuite(title: string, open: () => Promise<{ storage: ObjectStorage; close(): Promise<void> }>): void {
  describe(title, () => {
    let storage: ObjectStorage
    let close: () => Promise<void>
    let scratch: string

    beforeAll(async () => {
      const opened = await open()
      storage = opened.storage
      close = opened.close
      scratch = await mkdtemp(join(tmpdir(), 'vitascope-storage-'))
    })
    afterAll(async () => {
      await close()
      await rm(scratch, { recursive: true, force: true })
    })

    test.each([
      ['bytes', (bytes: Buffer) => bytes],
      ['a stream', (bytes: Buffer) => Readable.from([bytes.subarray(0, 100), bytes.subarray(100)], { objectMode: false })],
    ])('%s are stored and read back unchanged', async (kind, source) => {
      const bytes = randomBytes(300_000)
      const name = `round/${kind.replaceAll(' ', '-')}.bin`
      expect(await storage.put(name, source(bytes), { contentType: 'video/mp4' })).toEqual({ bytes: 300_000, sha256: sha256(bytes) })
      const opened = await storage.open(name)
      expect(opened.bytes).toBe(300_000)
      expect(opened.range).toBeUndefined()
      expect((await buffer(opened.stream)).equals(bytes)).toBe(true)
      expect(await storage.stat(name)).toMatchObject({ name, bytes: 300_000 })
    })

    test.each([[false], [true]])('a file is stored and read back unchanged; with move %p', async (move) => {
      const bytes = randomBytes(70_000)
      const file = join(scratch, `source-${move}`)
      await writeFile(file, bytes)
      expect(await storage.put(`file/${move}`, { file, move })).toEqual({ bytes: 70_000, sha256: sha256(bytes) })
      expect(await read(`file/${move}`)).toEqual(bytes)
      expect(await exists(file)).toBe(!move)
    })

    test.each([
      ['a symbolic link', (path: string, secret: string) => symlink(secret, path)],
      ['a FIFO', (path: string) => promisify(execFile)('mkfifo', [path])],
      ['a folder', (path: string) => mkdir(path)],
    ])('%s in place of a file is rejected and not moved', async (kind, plant) => {
      const secret = join(scratch, 'secret')
      await writeFile(secret, 'not to be stored')
      for (const move of [false, true]) {
        const file = join(scratch, `${kind.replaceAll(' ', '-')}-${move}`)
        await plant(file, secret)
        await expect(storage.put('planted/one', { file, move })).rejects.toMatchObject({ kind: 'invalid', reason: 'NOT_A_PLAIN_FILE' })
        expect((await lstat(file)).isFile()).toBe(false)
      }
      expect(await listNames('planted')).toEqual([])
    })

    test.each([[false], [true]])('the descriptor decides which bytes are stored; with move %p', async (move) => {
      const file = join(scratch, `opened-${move}`)
      await writeFile(file, 'checked')
      const handle = await openFile(file)
      try {
        // The path is replaced by another file after the file was opened.
        await writeFile(`${file}-other`, 'exchanged')
        await rename(`${file}-other`, file)
        const name = `descriptor/${move}`
        const outcome = await storage.put(name, { file, handle, move }).catch((error: unknown) => error)
        // A store that keeps the file itself rejects the replaced file; a store that copies has
        // read the descriptor.
        if (await storage.stat(name)) expect(String(await read(name))).toBe('checked')
        else expect(outcome).toMatchObject({ reason: 'FILE_REPLACED' })
      } finally {
        await handle.close()
      }
    })

    test('a file whose descriptor was read before is stored from its start', async () => {
      const file = join(scratch, 'read-before')
      await writeFile(file, 'from the start')
      const handle = await openFile(file)
      await handle.read(Buffer.alloc(5), 0, 5)
      expect(await storage.put('descriptor/start', { file, handle, move: true })).toMatchObject({ bytes: 14 })
      await handle.close()
      expect(String(await read('descriptor/start'))).toBe('from the start')
      expect(await exists(file)).toBe(false)
    })

    test('a large object from any kind of source is read back unchanged, and is never replaced', async () => {
      const bytes = randomBytes(35 << 20)
      const file = join(scratch, 'large')
      await writeFile(file, bytes)
      expect(await storage.put('large/one', Readable.from([bytes], { objectMode: false }))).toEqual({
        bytes: bytes.length,
        sha256: sha256(bytes),
      })
      expect(await storage.put('large/one', { file })).toMatchObject({ sha256: sha256(bytes) })
      await expect(storage.put('large/one', bytes.subarray(1))).rejects.toMatchObject({ reason: 'OBJECT_EXISTS' })
      expect(sha256(await read('large/one'))).toBe(sha256(bytes))
      const { stream } = await storage.open('large/one', { range: { start: 16 << 20, end: (16 << 20) + 9 } })
      expect((await buffer(stream)).equals(bytes.subarray(16 << 20, (16 << 20) + 10))).toBe(true)
      const contents = [1, 2, 3].map((n) => Buffer.concat([bytes, Buffer.from(String(n))]))
      const settled = await Promise.allSettled(contents.map((content) => storage.put('large/race', content)))
      expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    })

    test('an object may be empty', async () => {
      await storage.put('empty', new Uint8Array(0))
      expect(await storage.stat('empty')).toMatchObject({ bytes: 0 })
      expect((await buffer((await storage.open('empty')).stream)).length).toBe(0)
      await expect(storage.open('empty', { range: { start: 0 } })).rejects.toMatchObject({ reason: 'RANGE_NOT_SATISFIABLE', bytes: 0 })
    })

    test('the same bytes can be put again, and other bytes are rejected', async () => {
      await storage.put('kept/one', Buffer.from('first'))
      await storage.put('kept/one', Buffer.from('first'))
      for (const other of ['other', 'longer than the first']) {
        await expect(storage.put('kept/one', Buffer.from(other))).rejects.toMatchObject({ kind: 'exists', reason: 'OBJECT_EXISTS' })
      }
      expect(String(await read('kept/one'))).toBe('first')
    })

    test('concurrent puts of one name store exactly one complete set of bytes', async () => {
      const contents = Array.from({ length: 8 }, () => randomBytes(50_000))
      const settled = await Promise.allSettled(contents.map((bytes) => storage.put('race/one', bytes)))
      expect(settled.filter((one) => one.status === 'fulfilled')).toHaveLength(1)
      const winner = contents[settled.findIndex((one) => one.status === 'fulfilled')]
      expect(await read('race/one')).toEqual(winner)
    })

    test.each<[string, RangeRequest, number, number]>([
      ['the first byte', { start: 0, end: 0 }, 0, 0],
      ['the middle', { start: 3, end: 5 }, 3, 5],
      ['an open end', { start: 7 }, 7, 9],
      ['an end past the object', { start: 8, end: 1000 }, 8, 9],
      ['the last bytes', { last: 4 }, 6, 9],
      ['more last bytes than there are', { last: 40 }, 0, 9],
    ])('a range returns %s', async (_, range, start, end) => {
      await storage.put('range/digits', Buffer.from('0123456789'))
      const opened = await storage.open('range/digits', { range })
      expect(opened).toMatchObject({ bytes: 10, range: { start, end } })
      expect(String(await buffer(opened.stream))).toBe('0123456789'.slice(start, end + 1))
    })

    test.each<[string, RangeRequest]>([
      ['starts after the end', { start: 10 }],
      ['ends before it starts', { start: 5, end: 4 }],
      ['has a length of 0', { last: 0 }],
      ['has a fraction', { start: 0.5 }],
      ['is negative', { start: -1 }],
    ])('a range that %s is rejected with the size of the object', async (_, range) => {
      await storage.put('range/digits', Buffer.from('0123456789'))
      await expect(storage.open('range/digits', { range })).rejects.toMatchObject({ reason: 'RANGE_NOT_SATISFIABLE', bytes: 10 })
    })

    test('open and download of a missing object throw OBJECT_NOT_FOUND, and the other methods report that it does not exist', async () => {
      await expect(storage.open('no/such')).rejects.toMatchObject({ kind: 'not_found', reason: 'OBJECT_NOT_FOUND' })
      await expect(storage.download('no/such', join(scratch, 'none'))).rejects.toMatchObject({ reason: 'OBJECT_NOT_FOUND' })
      expect(await storage.stat('no/such')).toBeUndefined()
      expect(await storage.delete('no/such')).toBe(false)
      expect(await storage.deletePrefix('no')).toBe(0)
    })

    test('a list contains exactly the objects below the prefix, in byte order', async () => {
      const names = ['list/1/a-b', 'list/1/a/c', 'list/1/a0', 'list/1/b/c/d', 'list/10/a', 'list/1.x']
      for (const name of names) await storage.put(name, Buffer.from(name))
      expect(await listNames('list/1')).toEqual(['list/1/a-b', 'list/1/a/c', 'list/1/a0', 'list/1/b/c/d'])
      expect(await listNames('list/1/')).toEqual(await listNames('list/1'))
      expect(await listNames('list')).toEqual([...names].sort())
      expect(await listNames('')).toEqual(expect.arrayContaining(names))
      expect(await listNames('list/1/a-b')).toEqual([])
    })

    test('folders returns only the folders directly below the prefix', async () => {
      for (const name of ['tree/1/a', 'tree/1/b/c', 'tree/10/a', 'tree/x']) await storage.put(name, Buffer.from('x'))
      const folders = async (prefix: string) => {
        const names: string[] = []
        for await (const name of storage.folders(prefix)) names.push(name)
        return names.sort()
      }
      expect([await folders('tree'), await folders('tree/1/'), await folders('tree/10'), await folders('none')]).toEqual([
        ['tree/1', 'tree/10'],
        ['tree/1/b'],
        [],
        [],
      ])
      expect(await folders('')).toContain('tree')
    })

    test('deleting a prefix does not delete names that only start with its text, and deleted names can be used again', async () => {
      for (const name of ['gone/1/a', 'gone/1/b/c', 'gone/10/a', 'gone/1-x']) await storage.put(name, Buffer.from('x'))
      expect(await storage.deletePrefix('gone/1')).toBe(2)
      expect(await listNames('gone')).toEqual(['gone/1-x', 'gone/10/a'])
      expect(await storage.delete('gone/1-x')).toBe(true)
      expect(await storage.delete('gone/1-x')).toBe(false)
      await expect(storage.deletePrefix('')).rejects.toMatchObject({ kind: 'invalid' })
      await storage.put('gone/1/a', Buffer.from('other bytes'))
    })

    test('an opened object can be read to its end after it was deleted', async () => {
      const bytes = randomBytes(3 << 20)
      await storage.put('reader/one', bytes)
      const { stream } = await storage.open('reader/one')
      const first = await new Promise<Buffer>((resolve, reject) => {
        stream.once('error', reject)
        stream.once('readable', () => resolve(stream.read()))
      })
      await storage.delete('reader/one')
      expect(Buffer.concat([first, await buffer(stream)]).equals(bytes)).toBe(true)
    })

    test('concurrent puts and deletes in one folder do not fail', async () => {
      const rounds = Array.from({ length: 20 }, async (_, i) => {
        await storage.put(`busy/folder/deep/${i}`, Buffer.from(`${i}`))
        expect(String(await read(`busy/folder/deep/${i}`))).toBe(`${i}`)
        await storage.delete(`busy/folder/deep/${i}`)
      })
      await Promise.all(rounds)
      expect(await listNames('busy')).toEqual([])
    })

    test('a download replaces an existing file with the object', async () => {
      const bytes = randomBytes(10_000)
      const target = join(scratch, 'target')
      await writeFile(target, 'old')
      await storage.put('download/one', bytes)
      expect(await storage.download('download/one', target)).toEqual({ bytes: 10_000 })
      expect(await readFile(target)).toEqual(bytes)
      // Programs that run as another user read the file.
      expect((await stat(target)).mode & 0o044).toBe(0o044)
      await rm(target)
      expect(await read('download/one')).toEqual(bytes)
    })

    test('a source that fails or an aborted signal leaves no object', async () => {
      const failing = Readable.from(
        (async function* () {
          yield Buffer.alloc(100_000)
          throw new Error('the source broke')
        })(),
        { objectMode: false },
      )
      await expect(storage.put('cut/one', failing)).rejects.toThrow('the source broke')
      const stop = new AbortController()
      const endless = new Readable({
        read() {
          this.push(Buffer.alloc(1000))
          if (this.readableLength > 0) stop.abort()
        },
      })
      await expect(storage.put('cut/two', endless, { signal: stop.signal })).rejects.toMatchObject({ name: 'AbortError' })
      await expect(storage.put('cut/three', Buffer.from('x'), { signal: stop.signal })).rejects.toMatchObject({ name: 'AbortError' })
      expect(await listNames('cut')).toEqual([])
      expect(endless.destroyed).toBe(true)
    })

    test('a signal aborted before the stream is open rejects the read', async () => {
      await storage.put('left/one', Buffer.from('x'))
      const stop = new AbortController()
      const opening = storage.open('left/one', { signal: stop.signal })
      stop.abort()
      await expect(opening).rejects.toMatchObject({ name: 'AbortError' })
    })

    test.each(badNames)('the name %j is rejected by put, open, stat, delete, download and deletePrefix', async (name) => {
      const domainError = { kind: 'invalid', reason: 'BAD_OBJECT_NAME' }
      await expect(storage.put(name, Buffer.from('x'))).rejects.toMatchObject(domainError)
      await expect(storage.open(name)).rejects.toMatchObject(domainError)
      await expect(storage.stat(name)).rejects.toMatchObject(domainError)
      await expect(storage.delete(name)).rejects.toMatchObject(domainError)
      await expect(storage.download(name, join(scratch, 'bad'))).rejects.toMatchObject(domainError)
      await expect(storage.deletePrefix(name)).rejects.toMatchObject({ kind: 'invalid' })
    })

    test('a name of the maximum length is accepted', async () => {
      const name = [...'abc'].map((c) => c.repeat(170)).join('/')
      expect(name).toHaveLength(512)
      await storage.put(name, Buffer.from('long'))
      expect(String(await read(name))).toBe('long')
      expect(await listNames('a'.repeat(170))).toEqual([name])
    })

    async function read(name: string): Promise<Buffer> {
      return buffer((await storage.open(name)).stream)
    }

    async function listNames(prefix: string): Promise<string[]> {
      const names: string[] = []
      for await (const { name } of storage.list(prefix)) names.push(name)
      return names
    }
  })
}

const badNames = [
  '',
  '/',
  '/etc/passwd',
  '../secret',
  'a/../../b',
  'a/..',
  'a/./b',
  'a//b',
  '/a',
  '.hidden',
  'a/.incoming/b',
  'a\0b',
  'a\\b',
  'a b',
  'ä',
  'Upper',
  '-rf',
  'a/-x',
  'a/%2e%2e/b',
  'c:/x',
  'a..b',
  'a\n',
  'x'.repeat(256),
  `${'abc/'.repeat(128)}x`,
]

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
