import { Worker } from 'node:worker_threads'
import { DomainError } from '@vitascope/errors'
import { captionTooLarge } from './caption-line.ts'
import type { CaptionFile } from './read-captions.ts'
import type { ReadResult, ThreadMessage } from './reader-thread.ts'

/** A thread that reads one file at a time. It does not keep an idle process alive. */
export interface ReaderThread {
  /** Reads a file. After a rejection the thread must be terminated. */
  read(file: CaptionFile, signal?: AbortSignal): Promise<ReadResult>
  terminate(): Promise<void>
}

export interface ThreadBounds {
  /** Maximum time in ms for the start of the thread, and for reading a file, on a busy machine. */
  timeoutMs: number
  /** Maximum CPU time per file in ms. The slowest valid file needs a tenth of the default. */
  maxCpuMs: number
  /** Heap of the thread. The default is several times the memory that the largest file needs. */
  maxHeapMiB: number
}

const CPU_POLL_MS = 250

export function startReaderThread({ timeoutMs, maxCpuMs, maxHeapMiB }: ThreadBounds): ReaderThread {
  const worker = new Worker(new URL('./reader-thread.ts', import.meta.url), {
    name: 'captions',
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMiB, maxYoungGenerationSizeMb: 16 },
  })
  worker.unref()
  const failure = new AbortController()
  worker.on('error', (error: Error & { code?: string }) => {
    const isOutOfMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY'
    failure.abort(isOutOfMemory ? captionTooLarge('the file needs too much memory to be read: split it', error) : error)
  })
  worker.on('exit', (code) => failure.abort(new Error(`the caption thread ended with exit code ${code}`)))
  let isReady = false
  // Polls CPU time rather than wall time, so that a busy machine does not make a file too large.
  const watchCpu = (startMs: number) =>
    setInterval(
      () =>
        cpuMs(worker).then(
          (nowMs) => nowMs - startMs > maxCpuMs && failure.abort(readTimeExceeded()),
          () => {},
        ),
      Math.min(CPU_POLL_MS, maxCpuMs),
    )

  return {
    async read(file, signal) {
      worker.ref()
      try {
        const signals = [failure.signal, signal]
        if (!isReady) await nextMessage(worker, timeoutMs, signals)
        isReady = true
        const startMs = await cpuMs(worker)
        worker.postMessage(file)
        const watch = watchCpu(startMs)
        try {
          const message = await nextMessage(worker, timeoutMs, signals)
          if ('ready' in message) throw new Error('the caption thread reported ready twice')
          return message
        } finally {
          clearInterval(watch)
        }
      } finally {
        worker.unref()
      }
    },
    terminate: async () => void (await worker.terminate()),
  }
}

/** Returns the CPU time of the thread; rejects if the thread has ended. Node before 24.6 does not report it, so wall time is used there. */
async function cpuMs(worker: Worker): Promise<number> {
  if (!worker.cpuUsage) return performance.now()
  const { user, system } = await worker.cpuUsage()
  return (user + system) / 1_000
}

function nextMessage(worker: Worker, timeoutMs: number, signals: readonly (AbortSignal | undefined)[]) {
  return new Promise<ThreadMessage>((resolve, reject) => {
    const cleanUp = () => {
      clearTimeout(timer)
      worker.off('message', onMessage)
      for (const signal of signals) signal?.removeEventListener('abort', onAbort)
    }
    const onMessage = (message: ThreadMessage) => {
      cleanUp()
      resolve(message)
    }
    const onAbort = () => {
      cleanUp()
      reject(signals.find((signal) => signal?.aborted)?.reason ?? machineBusy())
    }
    const timer = setTimeout(onAbort, timeoutMs)
    worker.on('message', onMessage)
    for (const signal of signals) signal?.addEventListener('abort', onAbort)
    if (signals.some((signal) => signal?.aborted)) onAbort()
  })
}

const readTimeExceeded = () => captionTooLarge('the file takes too long to be read: split it, or reduce its markup')
const machineBusy = () =>
  new DomainError('unavailable', 'CAPTIONS_BUSY', 'no caption file can be read at the moment, because the machine is busy; try again', {
    retryAfter: 5,
  })
