import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { ObjectInfo, ObjectStorage } from '@vitascope/storage'
import type { BackedObject } from './backup-folder.ts'
import { BackupRefused } from './refusal.ts'

const AT_ONCE = 16

/** Copies objects, each read once, and answers what was read, in their order. */
export async function* copyObjects(
  objects: AsyncIterable<{ name: string; bytes: number }>,
  from: ObjectStorage,
  to: ObjectStorage,
): AsyncGenerator<BackedObject> {
  let batch: Promise<BackedObject>[] = []
  for await (const object of objects) {
    const copying = copyObject(object, from, to)
    // Heard where it is waited for.
    copying.catch(() => {})
    batch.push(copying)
    if (batch.length < AT_ONCE) continue
    yield* await Promise.all(batch)
    batch = []
  }
  yield* await Promise.all(batch)
}

async function copyObject({ name, bytes }: { name: string; bytes: number }, from: ObjectStorage, to: ObjectStorage): Promise<BackedObject> {
  const { stream } = await from.open(name)
  const stored = await to.put(name, stream)
  if (stored.bytes !== bytes) throw new BackupRefused(`${name} has ${stored.bytes} bytes and should have ${bytes}`)
  return { name, ...stored }
}

/** What of a list an earlier backup of the same folder has already; both are in the order of bytes. Names never change their bytes. */
export async function* withKnown(
  objects: AsyncIterable<ObjectInfo>,
  known: AsyncIterator<BackedObject>,
): AsyncGenerator<{ object: ObjectInfo; known: BackedObject | undefined }> {
  let next = await known.next()
  for await (const object of objects) {
    while (!next.done && next.value.name < object.name) next = await known.next()
    const isKnown = !next.done && next.value.name === object.name && next.value.bytes === object.bytes
    yield { object, known: isKnown ? next.value : undefined }
  }
}

/** Makes everything below a folder durable: at once is much quicker than file by file. */
export async function syncAll(folder: string): Promise<void> {
  await promisify(execFile)('sync', ['-f', folder])
}
