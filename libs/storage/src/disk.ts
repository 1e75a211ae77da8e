import { constants, link, lstat, mkdir, open, rename, unlink } from 'node:fs/promises'

/**
 * File operations whose order decides which data survives a power failure. The file store writes
 * files with these operations only.
 */
export interface Disk {
  /** Creates a file. Throws EEXIST if the path exists. */
  create(path: string): Promise<DiskFile>
  /** Opens an existing file in order to sync it. */
  openForSync(path: string): Promise<DiskFile>
  /** Throws EEXIST if `to` exists. */
  link(from: string, to: string): Promise<void>
  rename(from: string, to: string): Promise<void>
  remove(path: string): Promise<void>
  /**
   * Returns true if the folder was created by this call. Throws EEXIST if the path is not a folder,
   * such as a link to a folder.
   */
  makeFolder(path: string): Promise<boolean>
  syncFolder(path: string): Promise<void>
}

export interface DiskFile {
  write(bytes: Uint8Array): Promise<void>
  sync(): Promise<void>
  close(): Promise<void>
}

/**
 * Mode of stored files. They are read-only, so that no program writes through a hard link from
 * `download`.
 */
const FILE_MODE = 0o444

export const nodeDisk: Disk = {
  create: async (path) => {
    const handle = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, FILE_MODE)
    return { write: (bytes) => handle.writeFile(bytes), sync: () => handle.sync(), close: () => handle.close() }
  },
  openForSync: async (path) => {
    const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
    await handle.chmod(FILE_MODE)
    return {
      write: () => Promise.reject(new Error('the file was opened only to sync it')),
      sync: () => handle.sync(),
      close: () => handle.close(),
    }
  },
  link,
  rename,
  remove: async (path) => {
    try {
      await unlink(path)
    } catch (error) {
      if (!isErrno(error, 'ENOENT')) throw error
    }
  },
  makeFolder: async (path) => {
    try {
      await mkdir(path)
      return true
    } catch (error) {
      if (isErrno(error, 'EEXIST') && (await lstat(path)).isDirectory()) return false
      throw error
    }
  },
  syncFolder: async (path) => {
    const handle = await open(path, constants.O_RDONLY)
    await handle.sync().finally(() => handle.close())
  },
}

/**
 * Returns whether an error has one of the codes. Does not use `instanceof`: file system errors may
 * come from another realm.
 */
export function isErrno(error: unknown, ...codes: string[]): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string' && codes.includes(error.code)
}

/**
 * Disk whose writes are not synced one by one, for copies that are synced together at their end.
 */
export const unsyncedDisk: Disk = {
  ...nodeDisk,
  create: async (path) => ({ ...(await nodeDisk.create(path)), sync: async () => {} }),
  openForSync: async (path) => ({ ...(await nodeDisk.openForSync(path)), sync: async () => {} }),
  syncFolder: async () => {},
}
