import { constants, copyFile, type FileHandle, link, lstat, open, readdir, rm } from 'node:fs/promises'
import { EncodeError } from './media-errors.ts'

/**
 * An open folder that a tool writes to. If a tool replaces it, or a folder above it, the
 * replacement is never read. Node has no openat(2); on Linux a path through /proc/self/fd resolves
 * from the open folder in the same way.
 */
export interface OutputFolder {
  names(): Promise<string[]>
  /**
   * Opens a plain file for reading. Returns undefined if the name does not exist. Throws
   * `EncodeError` of kind `incomplete` for a symbolic link, a FIFO, a device, a folder, and for a
   * hard link to another file.
   */
  open(name: string): Promise<OutputFile | undefined>
  close(): Promise<void>
}

export interface OutputFile {
  handle: FileHandle
  bytes: number
  dev: number
  ino: number
  /** Path of the entry through the open folder; valid while the folder is open. */
  path: string
}

export interface OutputOptions {
  /**
   * Files may have other hard links, because they were downloaded from storage or are already part
   * of a set. Default: false.
   */
  mayBeLinked?: boolean
}

/**
 * Opens `path` below the folder `root`, one component after another, without following links.
 * Throws `incomplete` if a component is not a folder.
 */
export async function openOutputFolder(root: string, path: string, { mayBeLinked = false }: OutputOptions = {}): Promise<OutputFolder> {
  let folder = await openFolder(root, path)
  for (const part of path.split('/')) {
    const parent = folder
    folder = await openFolder(`${parent.path}/${part}`, path).finally(() => parent.handle.close())
  }
  return {
    names: () => readdir(folder.path),
    open: (name) => openFile(`${folder.path}/${name}`, `${path}/${name}`, mayBeLinked),
    close: () => folder.handle.close(),
  }
}

/**
 * Opens the file at `path` below the folder `root`, calls `use`, and closes it. Throws `incomplete`
 * like `openOutputFolder` and `OutputFolder.open`, and for a file that is missing or empty.
 */
export async function withOutput<T>(
  root: string,
  path: string,
  use: (file: OutputFile) => Promise<T>,
  options?: OutputOptions,
): Promise<T> {
  const slash = path.lastIndexOf('/')
  const folder = await openOutputFolder(root, slash < 0 ? '.' : path.slice(0, slash), options)
  try {
    return await useOutput(folder, path.slice(slash + 1), use)
  } finally {
    await folder.close()
  }
}

/** Same as `withOutput` for a file of an open folder. */
export async function useOutput<T>(folder: OutputFolder, name: string, use: (file: OutputFile) => Promise<T>): Promise<T> {
  const file = await folder.open(name)
  if (!file) throw new EncodeError('incomplete', `${name}: it is missing or empty`)
  try {
    if (file.bytes === 0) throw new EncodeError('incomplete', `${name}: it is missing or empty`)
    return await use(file)
  } finally {
    await file.handle.close()
  }
}

/**
 * Links a tool's file as `target`, in a folder that no tool can write to. Ensures that the link
 * refers to the file that was opened.
 */
export async function linkOutput(file: OutputFile, target: string): Promise<void> {
  try {
    // link(2) does not follow symbolic links.
    await link(file.path, target)
  } catch (error) {
    if (!isErrno(error, 'EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS')) throw error
    return copyFile(toDescriptorPath(file.handle, file.path), target, constants.COPYFILE_EXCL)
  }
  const linked = await lstat(target)
  if (linked.dev === file.dev && linked.ino === file.ino) return
  await rm(target)
  throw new EncodeError('incomplete', 'a file was replaced while it was read')
}

/**
 * Reads a file. Throws `incomplete` if it has more than `maxBytes`. Bytes that are added after it
 * was opened are not read.
 */
export async function readOutput(file: Pick<OutputFile, 'handle' | 'bytes'>, maxBytes: number): Promise<Buffer> {
  if (file.bytes > maxBytes) throw new EncodeError('incomplete', `a file has ${file.bytes} bytes; at most ${maxBytes} were expected`)
  const bytes = Buffer.alloc(file.bytes)
  let position = 0
  while (position < bytes.length) {
    const { bytesRead } = await file.handle.read(bytes, position, bytes.length - position, position)
    if (bytesRead === 0) break
    position += bytesRead
  }
  return bytes.subarray(0, position)
}

/**
 * Flags to open a plain file. With O_NONBLOCK, opening a FIFO does not wait for a writer, and the
 * FIFO is then rejected.
 */
const plainFile = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
const plainFolder = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_DIRECTORY

async function openFolder(path: string, displayPath: string): Promise<{ handle: FileHandle; path: string }> {
  try {
    const handle = await open(path, plainFolder)
    return { handle, path: toDescriptorPath(handle, path) }
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) throw new EncodeError('incomplete', `${displayPath}: there is no such folder`)
    throw error
  }
}

async function openFile(path: string, displayPath: string, mayBeLinked: boolean): Promise<OutputFile | undefined> {
  let handle: FileHandle
  try {
    handle = await open(path, plainFile)
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined
    // ELOOP: a symbolic link. ENXIO: a socket.
    if (isErrno(error, 'ELOOP', 'ENXIO', 'ENOTDIR')) throw notPlainFile(displayPath)
    throw error
  }
  try {
    const stats = await handle.stat()
    if (!stats.isFile() || (!mayBeLinked && stats.nlink > 1)) throw notPlainFile(displayPath)
    return { handle, bytes: stats.size, dev: stats.dev, ino: stats.ino, path }
  } catch (error) {
    await handle.close()
    throw error
  }
}

/**
 * Returns a path through the open descriptor. On other systems than Linux only the last component
 * of a path is protected from links.
 */
function toDescriptorPath({ fd }: FileHandle, path: string): string {
  return process.platform === 'linux' ? `/proc/self/fd/${fd}` : path
}

function notPlainFile(displayPath: string): EncodeError {
  return new EncodeError('incomplete', `${displayPath}: it is not a plain file of its own`)
}

/**
 * Returns whether an error has one of the codes. Does not use `instanceof`: file system errors may
 * come from another realm.
 */
function isErrno(error: unknown, ...codes: string[]): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string' && codes.includes(error.code)
}
