import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { ObjectInfo, ObjectStorage } from '@vitascope/storage'
import { BackupError } from './backup-error.ts'
import type { BackedObject } from './backup-folder.ts'

const CONCURRENT_COPIES = 16

/** Copies objects, reading each once. Yields them in order, with the checksums of what was read. */
export async function* copyObjects(
  objects: AsyncIterable<{ name: string; bytes: number }>,
  from: ObjectStorage,
  target: ObjectStorage,
): AsyncGenerator<BackedObject> {
  let batch: Promise<BackedObject>[] = []
  for await (const object of objects) {
    const copying = copyObject(object, from, target)
    // The rejection is handled at the await below.
    copying.catch(() => {})
    batch.push(copying)
    if (batch.length < CONCURRENT_COPIES) continue
    yield* await Promise.all(batch)
    batch = []
  }
  yield* await Promise.all(batch)
}

async function copyObject(
  { name, bytes }: { name: string; bytes: number },
  from: ObjectStorage,
  target: ObjectStorage,
): Promise<BackedObject> {
  const { stream } = await from.open(name)
  const stored = await target.put(name, stream)
  if (stored.bytes !== bytes) throw new BackupError(`${name} has ${stored.bytes} bytes instead of ${bytes}`)
  return { name, ...stored }
}

/**
 * Yields each object of a list with its entry in an earlier backup of the same folder, if any. Both
 * are sorted by bytes. The content of a name never changes.
 */
export async function* withEarlier(
  objects: AsyncIterable<ObjectInfo>,
  earlier: AsyncIterator<BackedObject>,
): AsyncGenerator<{ object: ObjectInfo; earlier: BackedObject | undefined }> {
  let next = await earlier.next()
  for await (const object of objects) {
    while (!next.done && next.value.name < object.name) next = await earlier.next()
    const isSame = !next.done && next.value.name === object.name && next.value.bytes === object.bytes
    yield { object, earlier: isSame ? next.value : undefined }
  }
}

/** Merges sorted lists of objects into one. A name in several lists is returned once. */
export async function* mergeLists(lists: readonly AsyncIterator<BackedObject>[]): AsyncGenerator<BackedObject> {
  const heads = await Promise.all(lists.map((list) => list.next()))
  for (;;) {
    const first = heads
      .flatMap(({ done, value }) => (done ? [] : [value as BackedObject]))
      .reduce<BackedObject | undefined>((least, object) => (least === undefined || object.name < least.name ? object : least), undefined)
    if (first === undefined) return
    yield first
    for (const [index, list] of lists.entries()) {
      const head = heads[index]
      if (head && !head.done && head.value.name === first.name) heads[index] = await list.next()
    }
  }
}

/** Makes everything below a folder durable. One sync is much faster than one per file. */
export async function syncAll(folder: string): Promise<void> {
  await promisify(execFile)('sync', ['-f', folder])
}
