import { type FileHandle, mkdir, open, readdir, readFile, rename, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { DomainError } from '@vitascope/errors'
import type { Logger } from '@vitascope/telemetry'
import type { Batch } from './event-store.ts'

/**
 * Stores events on disk while the database is unavailable. Its size is limited, and only one process
 * uses it. A file consists of groups. Each group starts with its length and checksum. A group is
 * acknowledged after it was synced, so an incomplete group at the end of a file was never acknowledged. A group whose
 * checksum is wrong was damaged by the disk. It is skipped, and its file is kept for the operator.
 */
export interface Spool {
  /** Stores a batch durably. Throws `unavailable` if the spool is full or the write fails. */
  append(batch: Batch): Promise<void>
  /**
   * Passes all batches to `write`, oldest first. Deletes each file after its batches were written.
   * Stops at the first failure. The caller must not call it concurrently.
   */
  drain(write: (batch: Batch) => Promise<unknown>): Promise<void>
  /** Returns the size of all files. */
  bytes(): number
  close(): Promise<void>
}

const FILE_NAME = /^(\d{12})\.events$/
/** Size after which a new file is started. A file is read into memory when it is drained. */
const FILE_BYTES = 8 * 1024 * 1024

export interface SpoolOptions {
  folder: string
  maxBytes: number
  log: Logger
  /** Opens files. Tests replace it with a function that fails. */
  openFile?: typeof open
}

/** The file that is being written. It is not drained before it is closed. */
interface OpenFile {
  name: string
  /** Size of the complete groups. */
  bytes: number
  handle: FileHandle
  /** Whether the directory entry was synced. */
  isEntrySynced: boolean
}

export async function openSpool({ folder, maxBytes, log, openFile = open }: SpoolOptions): Promise<Spool> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  let files: { name: string; bytes: number }[] = []
  for (const name of (await readdir(folder)).filter((name) => FILE_NAME.test(name)).sort()) {
    files.push({ name, bytes: (await stat(join(folder, name))).size })
  }
  let lastNumber = Number(FILE_NAME.exec(files.at(-1)?.name ?? '')?.[1] ?? 0)
  let current: OpenFile | undefined
  const bytes = () => files.reduce((sum, file) => sum + file.bytes, 0) + (current?.bytes ?? 0)

  const openNextFile = async () => {
    const name = `${String(++lastNumber).padStart(12, '0')}.events`
    const handle = await openFile(join(folder, name), 'ax', 0o600)
    current = { name, bytes: 0, handle, isEntrySynced: false }
    return current
  }
  const closeCurrentFile = async () => {
    if (!current) return
    const { name, bytes, handle } = current
    current = undefined
    files.push({ name, bytes })
    await handle.close()
  }
  const write = async (file: OpenFile, group: Buffer) => {
    try {
      if (!file.isEntrySynced) await syncFolder(folder)
      file.isEntrySynced = true
      await file.handle.appendFile(group)
      await file.handle.datasync()
      file.bytes += group.length
    } catch (error) {
      // Removes the incomplete group. If that fails, the file is closed and the incomplete group
      // remains at its end.
      await file.handle.truncate(file.bytes).catch(closeCurrentFile)
      throw error
    }
  }
  const append = async (batch: Batch) => {
    const group = toGroup(batch)
    if (bytes() + group.length > maxBytes) throw spoolUnavailable()
    try {
      if (current && current.bytes >= FILE_BYTES) await closeCurrentFile()
      await write(current ?? (await openNextFile()), group)
    } catch (error) {
      throw spoolUnavailable(error)
    }
  }
  /** Serialises appends and the closing of files. */
  let lastOperation: Promise<unknown> = Promise.resolve()
  const runInOrder = <T>(run: () => Promise<T>): Promise<T> => {
    const result = lastOperation.then(run)
    // A failure is passed to the caller of this operation. Later operations still run.
    lastOperation = result.catch(() => {})
    return result
  }
  const drain = async (write: (batch: Batch) => Promise<unknown>) => {
    // Batches that are added during the drain go into a new file and do not wait for it.
    await runInOrder(closeCurrentFile)
    for (;;) {
      const [file] = files
      if (!file) return
      const path = join(folder, file.name)
      const { batches, tornBytes, damagedBytes } = readGroups(await readFile(path))
      if (tornBytes > 0) log.warn({ file: file.name, bytes: tornBytes }, 'spool file ends with an unacknowledged group; skipped')
      if (damagedBytes > 0)
        log.error(
          { file: `${file.name}.damaged`, bytes: damagedBytes },
          'spool file has damaged groups, whose events are lost; its other groups are stored',
        )
      for (const batch of batches) await write(batch)
      if (damagedBytes > 0) await rename(path, `${path}.damaged`)
      else await unlink(path)
      files = files.filter((other) => other !== file)
    }
  }
  return { append: (batch) => runInOrder(() => append(batch)), drain, bytes, close: () => runInOrder(closeCurrentFile) }
}

function spoolUnavailable(cause?: unknown): DomainError {
  return new DomainError('unavailable', 'DATABASE_UNAVAILABLE', 'events cannot be stored at the moment; try again', {
    retryAfter: 5,
    cause,
  })
}

function toGroup({ days, lines }: Batch): Buffer {
  const body = Buffer.from(lines.join(''))
  return Buffer.concat([Buffer.from(`${body.length} ${crc32(body)} ${days.join(',')}\n`), body])
}

interface Groups {
  batches: Batch[]
  /** Bytes of the incomplete group at the end. */
  tornBytes: number
  /** Bytes before the last complete group that belong to no group. */
  damagedBytes: number
}

function readGroups(file: Buffer): Groups {
  const groups: Groups = { batches: [], tornBytes: 0, damagedBytes: 0 }
  let end = 0
  // Every line may be the header of a group, in case the group before it is damaged.
  for (let offset = 0; offset < file.length; ) {
    const group = readGroup(file, offset)
    if (group) {
      groups.batches.push(group.batch)
      groups.damagedBytes += offset - end
      end = group.end
      offset = end
    } else {
      const lineEnd = file.indexOf('\n', offset)
      if (lineEnd < 0) break
      offset = lineEnd + 1
    }
  }
  return { ...groups, tornBytes: file.length - end }
}

/** Returns the complete group at this offset, or undefined if there is none. */
function readGroup(file: Buffer, offset: number): { batch: Batch; end: number } | undefined {
  const headerEnd = file.indexOf('\n', offset)
  const header = /^(\d+) (\d+) ([\d,-]+)$/.exec(headerEnd < 0 ? '' : file.toString('latin1', offset, headerEnd))
  if (!header) return undefined
  const end = headerEnd + 1 + Number(header[1])
  const body = file.subarray(headerEnd + 1, end)
  if (end > file.length || crc32(body) !== Number(header[2])) return undefined
  return { batch: { days: (header[3] ?? '').split(','), lines: body.toString().split(/(?<=\n)/) }, end }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
