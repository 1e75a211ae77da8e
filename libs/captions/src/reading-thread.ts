import { Worker } from 'node:worker_threads'
import { DomainError } from '@vitascope/errors'
import type { CaptionFile } from './caption-file.ts'
import { captionTooLarge } from './caption-line.ts'
import type { ReadAnswer, ThreadAnswer } from './read-thread.ts'

/** A thread that reads one file at a time. */
export interface ReadingThread {
  /** After a rejection the thread is of no use any more: it is to be ended. */
  read(file: CaptionFile, signal?: AbortSignal): Promise<ReadAnswer>
  end(): Promise<void>
}

export interface ThreadBounds {
  /** Milliseconds until a thread is there, or an answer of it, on a machine that has much else to do. */
  waitMs: number
  /** Milliseconds that the thread itself may work on a file: ten times what the worst one takes. */
  workMs: number
  /** MiB: several times what the worst file needs. */
  heapMiB: number
}

const WATCH_MS = 250

/** It keeps no process alive that reads nothing. */
export function startReadingThread({ waitMs, workMs, heapMiB }: ThreadBounds): ReadingThread {
  const worker = new Worker(new URL('./read-thread.ts', import.meta.url), {
    name: 'captions',
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: heapMiB, maxYoungGenerationSizeMb: 16 },
  })
  worker.unref()
  const gone = new AbortController()
  worker.on('error', (error: Error & { code?: string }) => {
    const tooLarge = error.code === 'ERR_WORKER_OUT_OF_MEMORY'
    gone.abort(tooLarge ? captionTooLarge('the file takes too much memory to be read: send it in parts', error) : error)
  })
  worker.on('exit', (code) => gone.abort(new Error(`the thread that reads captions ended with ${code}`)))
  let isReady = false
  // Asked for now and then: a machine that is busy with something else makes no file too large.
  const watchWork = (before: number) =>
    setInterval(
      () =>
        workedMs(worker).then(
          (now) => now - before > workMs && gone.abort(tookTooLong()),
          () => {},
        ),
      Math.min(WATCH_MS, workMs),
    )

  return {
    async read(file, signal) {
      worker.ref()
      try {
        const stops = [gone.signal, signal]
        if (!isReady) await nextWord(worker, waitMs, stops)
        isReady = true
        const before = await workedMs(worker)
        worker.postMessage(file)
        const watch = watchWork(before)
        try {
          const answer = await nextWord(worker, waitMs, stops)
          if ('ready' in answer) throw new Error('the thread that reads captions was ready twice')
          return answer
        } finally {
          clearInterval(watch)
        }
      } finally {
        worker.unref()
      }
    },
    end: async () => void (await worker.terminate()),
  }
}

/** The thread's own; it rejects when there is none any more. Node before 24.6 cannot tell, and counts all time. */
async function workedMs(worker: Worker): Promise<number> {
  if (!worker.cpuUsage) return performance.now()
  const { user, system } = await worker.cpuUsage()
  return (user + system) / 1_000
}

function nextWord(worker: Worker, ms: number, stops: readonly (AbortSignal | undefined)[]) {
  return new Promise<ThreadAnswer>((resolve, reject) => {
    const done = () => {
      clearTimeout(timer)
      worker.off('message', hear)
      for (const stop of stops) stop?.removeEventListener('abort', leave)
    }
    const hear = (answer: ThreadAnswer) => {
      done()
      resolve(answer)
    }
    const leave = () => {
      done()
      reject(stops.find((stop) => stop?.aborted)?.reason ?? noTime())
    }
    const timer = setTimeout(leave, ms)
    worker.on('message', hear)
    for (const stop of stops) stop?.addEventListener('abort', leave)
    if (stops.some((stop) => stop?.aborted)) leave()
  })
}

const tookTooLong = () => captionTooLarge('the file takes too long to be read: send it in parts, or with less markup')
const noTime = () => new DomainError('unavailable', 'CAPTIONS_BUSY', 'no captions can be read just now: try again', { retryAfter: 5 })
