import { type FileHandle, mkdir, open, readdir, readFile, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { DomainError } from '@vitascope/errors'
import type { Logger } from '@vitascope/telemetry'
import type { Batch } from './event-store.ts'

/**
 * A bounded place on disk for events while the database is away. It belongs to one process. A file holds groups, each with its length and
 * checksum in front; a group was acknowledged only after it was synced, so what is torn at the end of a file was promised to nobody.
 */
export interface Spool {
  /** Durable when it comes back; refuses as unavailable when it is full or the disk does not take it. */
  append(batch: Batch): Promise<void>
  /** Hands everything over, the oldest first, and forgets it when `write` came back; stops at the first that fails. One at a time. */
  drain(write: (batch: Batch) => Promise<unknown>): Promise<void>
  bytes(): number
  close(): Promise<void>
}

const FILE = /^(\d{12})\.events$/
/** A file is read at once when it is drained. */
const FILE_BYTES = 8 * 1024 * 1024

export interface SpoolOptions {
  folder: string
  mostBytes: number
  log: Logger
  /** Of the disk; a test has one that fails. */
  openFile?: typeof open
}

/** The file that is written to; drained only when it is closed. */
interface Current {
  name: string
  /** Of whole groups. */
  bytes: number
  handle: FileHandle
  /** True when its name outlives a crash, too. */
  named: boolean
}

export async function openSpool({ folder, mostBytes, log, openFile = open }: SpoolOptions): Promise<Spool> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  let files: { name: string; bytes: number }[] = []
  for (const name of (await readdir(folder)).filter((one) => FILE.test(one)).sort()) {
    files.push({ name, bytes: (await stat(join(folder, name))).size })
  }
  let last = Number(FILE.exec(files.at(-1)?.name ?? '')?.[1] ?? 0)
  let current: Current | undefined
  const bytes = () => files.reduce((sum, file) => sum + file.bytes, 0) + (current?.bytes ?? 0)

  const openNext = async () => {
    const name = `${String(++last).padStart(12, '0')}.events`
    const handle = await openFile(join(folder, name), 'ax', 0o600)
    current = { name, bytes: 0, handle, named: false }
    return current
  }
  const closeCurrent = async () => {
    if (!current) return
    const { name, bytes, handle } = current
    current = undefined
    files.push({ name, bytes })
    await handle.close()
  }
  const write = async (file: Current, group: Buffer) => {
    try {
      if (!file.named) await syncFolder(folder)
      file.named = true
      await file.handle.appendFile(group)
      await file.handle.datasync()
      file.bytes += group.length
    } catch (error) {
      // The next group takes the place of what is torn; where that cannot be, it stays at the end of a file that gets nothing more.
      await file.handle.truncate(file.bytes).catch(closeCurrent)
      throw error
    }
  }
  const append = async (batch: Batch) => {
    const group = toGroup(batch)
    if (bytes() + group.length > mostBytes) throw full()
    try {
      if (current && current.bytes >= FILE_BYTES) await closeCurrent()
      await write(current ?? (await openNext()), group)
    } catch (error) {
      throw full(error)
    }
  }
  /** One after another: appends and the closing of files do not cross. */
  let line: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(run: () => Promise<T>): Promise<T> => {
    const result = line.then(run)
    // Its caller sees the failure; those behind go on.
    line = result.catch(() => {})
    return result
  }
  const drain = async (write: (batch: Batch) => Promise<unknown>) => {
    // What is added meanwhile goes into another file, and waits for nothing here.
    await inTurn(closeCurrent)
    for (;;) {
      const [file] = files
      if (!file) return
      const path = join(folder, file.name)
      const { batches, tornBytes } = readGroups(await readFile(path))
      if (tornBytes > 0) log.warn({ file: file.name, bytes: tornBytes }, 'the end of a spool file was never acknowledged: left out')
      for (const batch of batches) await write(batch)
      await unlink(path)
      files = files.filter((one) => one !== file)
    }
  }
  return { append: (batch) => inTurn(() => append(batch)), drain, bytes, close: () => inTurn(closeCurrent) }
}

function full(cause?: unknown): DomainError {
  return new DomainError('unavailable', 'DATABASE_UNAVAILABLE', 'events cannot be kept just now: try again', { retryAfter: 5, cause })
}

function toGroup({ days, lines }: Batch): Buffer {
  const body = Buffer.from(lines.join(''))
  return Buffer.concat([Buffer.from(`${body.length} ${crc32(body)} ${days.join(',')}\n`), body])
}

function readGroups(file: Buffer): { batches: Batch[]; tornBytes: number } {
  const batches: Batch[] = []
  let at = 0
  for (;;) {
    const end = file.indexOf('\n', at)
    const head = /^(\d+) (\d+) ([\d,-]+)$/.exec(end < 0 ? '' : file.toString('latin1', at, end))
    const body = head ? file.subarray(end + 1, end + 1 + Number(head[1])) : undefined
    if (!head || !body || body.length !== Number(head[1]) || crc32(body) !== Number(head[2]))
      return { batches, tornBytes: file.length - at }
    batches.push({ days: (head[3] ?? '').split(','), lines: body.toString().split(/(?<=\n)/) })
    at = end + 1 + body.length
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
