import type { QueueItem } from '@vitascope/queue'
import { TASK_KINDS, type TaskKind, type WorkerTaskKind } from './task.ts'

/** A task in the queue. Everything else is read from its job when it is leased. */
export type QueuedTask<Kind extends TaskKind = TaskKind> = Kind extends ChunkKind
  ? { kind: Kind /** Chunk number of the plan. `audio` has the number after the last one. */; chunk: number }
  : { kind: Kind; chunk?: undefined }

type ChunkKind = 'encode' | 'audio'

/** Returns the task of an item. Throws if the item is not a task of a job. */
export function readTask({ itemId, kind: name, payload }: Pick<QueueItem, 'itemId' | 'kind' | 'payload'>): QueuedTask {
  const kind = TASK_KINDS.find((taskKind) => taskKind === name)
  if (kind === undefined) throw new Error(`item ${itemId} of the queue has the unknown kind ${name}`)
  if (kind !== 'encode' && kind !== 'audio') return { kind }
  const chunk: unknown = typeof payload === 'object' && payload !== null && 'chunk' in payload ? payload.chunk : undefined
  if (typeof chunk !== 'number' || !Number.isSafeInteger(chunk) || chunk < 0) {
    throw new Error(`item ${itemId} of the queue is of kind ${kind} and has no valid chunk number`)
  }
  return { kind, chunk }
}

/** Returns the task of an item for a worker. Throws for other items. */
export function readWorkerTask(item: Parameters<typeof readTask>[0]): QueuedTask<WorkerTaskKind> {
  const task = readTask(item)
  if (task.kind === 'fetch' || task.kind === 'fetch-poster') throw new Error(`item ${item.itemId} of the queue is not a task for workers`)
  return task
}

/** Returns the task of an item that encodes a chunk. Throws for other items. */
export function readChunkTask(item: Parameters<typeof readTask>[0]): QueuedTask<ChunkKind> {
  const task = readTask(item)
  if (task.chunk === undefined) throw new Error(`item ${item.itemId} of the queue encodes no chunk`)
  return task
}
