import { constants, link, lstat, mkdir, open, rename, unlink } from 'node:fs/promises'

/** The operations whose order decides what is left after a power cut. The files store uses no others for writing. */
export interface Disk {
  create(path: string): Promise<DiskFile>
  /** Opens what is there already, to make it durable as it is. */
  adopt(path: string): Promise<DiskFile>
  /** Fails with EEXIST where `to` is taken. */
  link(from: string, to: string): Promise<void>
  rename(from: string, to: string): Promise<void>
  remove(path: string): Promise<void>
  /** True when it was made now. Fails with EEXIST where something other than a folder is there, be it a link to a folder. */
  makeFolder(path: string): Promise<boolean>
  syncFolder(path: string): Promise<void>
}

export interface DiskFile {
  write(bytes: Uint8Array): Promise<void>
  sync(): Promise<void>
  close(): Promise<void>
}

// Nobody may write through a link that `download` handed out.
const readOnly = 0o444

export const nodeDisk: Disk = {
  create: async (path) => {
    const handle = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, readOnly)
    return { write: (bytes) => handle.writeFile(bytes), sync: () => handle.sync(), close: () => handle.close() }
  },
  adopt: async (path) => {
    const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
    await handle.chmod(readOnly)
    return { write: () => Promise.reject(new Error('an adopted file is complete')), sync: () => handle.sync(), close: () => handle.close() }
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

/** Not by `instanceof`: errors of the file system may come from another realm than this module. */
export function isErrno(error: unknown, ...codes: string[]): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string' && codes.includes(error.code)
}

/** For copies that are made durable together at their end: nothing is written out before. */
export const unsyncedDisk: Disk = {
  ...nodeDisk,
  create: async (path) => ({ ...(await nodeDisk.create(path)), sync: async () => {} }),
  adopt: async (path) => ({ ...(await nodeDisk.adopt(path)), sync: async () => {} }),
  syncFolder: async () => {},
}
