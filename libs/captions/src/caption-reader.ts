import { createFairQueue } from '@vitascope/concurrency'
import { DomainError } from '@vitascope/errors'
import { type CaptionLine, captionTooLarge } from './caption-line.ts'
import { unpackLines } from './packed-lines.ts'
import { type CaptionFile, readCaptionFile } from './read-captions.ts'
import { type ReaderThread, startReaderThread, type ThreadBounds } from './thread-client.ts'

/** Reads files without blocking the event loop. */
export interface CaptionReader {
  /** Reads a file as `readCaptions` does. Throws CAPTION_TOO_LARGE, or CAPTIONS_BUSY if too many files wait. */
  read(file: CaptionFile, organisationId: string, signal?: AbortSignal): Promise<CaptionLine[]>
  /** Terminates the threads. Files that are being read are rejected with CAPTIONS_BUSY. */
  close(): Promise<void>
}

export interface ReaderBounds extends ThreadBounds {
  /** Files that are read at the same time; one per organisation. */
  concurrency: number
  /** Files that are queued. */
  maxQueued: number
  maxQueuedPerOrganisation: number
  /** Bytes or code units up to which a file is read without a thread. This takes at most about 5 ms. */
  smallFile: number
  /** Milliseconds until an idle thread is terminated. */
  idleMs: number
}

const DEFAULT_BOUNDS: ReaderBounds = {
  concurrency: 2,
  maxQueued: 16,
  maxQueuedPerOrganisation: 4,
  timeoutMs: 10_000,
  maxCpuMs: 2_000,
  maxHeapMiB: 192,
  smallFile: 65_536,
  idleMs: 30_000,
}

/** Creates a reader. It starts a thread when the first large file arrives. */
export function createCaptionReader(options: Partial<ReaderBounds> = {}): CaptionReader {
  const bounds = { ...DEFAULT_BOUNDS, ...options }
  const queue = createFairQueue({
    concurrency: bounds.concurrency,
    concurrencyPerKey: 1,
    maxQueued: bounds.maxQueued,
    maxQueuedPerKey: bounds.maxQueuedPerOrganisation,
    rejection: () => captionsBusy('too many caption files are being read: try again'),
  })
  const threads = new Set<ReaderThread>()
  const idle: { thread: ReaderThread; timer: NodeJS.Timeout }[] = []
  let isClosed = false

  const acquire = (): ReaderThread => {
    if (isClosed) throw captionsBusy('the service is shutting down: try again')
    const idleThread = idle.pop()
    clearTimeout(idleThread?.timer)
    const thread = idleThread?.thread ?? startReaderThread(bounds)
    threads.add(thread)
    return thread
  }
  const terminate = async (thread: ReaderThread) => {
    await thread.terminate()
    threads.delete(thread)
  }
  const release = (thread: ReaderThread) => {
    const entry = {
      thread,
      timer: setTimeout(() => void terminate(idle.splice(idle.indexOf(entry), 1)[0]?.thread ?? thread), bounds.idleMs),
    }
    entry.timer.unref()
    idle.push(entry)
  }
  const readInThread = async (file: CaptionFile, signal?: AbortSignal) => {
    const thread = acquire()
    try {
      const result = await thread.read(file, signal)
      release(thread)
      return result
    } catch (error) {
      // The queue slot is released only after the thread has ended, so that there are never more threads than
      // `concurrency`.
      await terminate(thread)
      throw isClosed ? captionsBusy('the service is shutting down: try again') : error
    }
  }

  return {
    async read(file, organisationId, signal) {
      if (file.content.length <= bounds.smallFile) return readCaptionFile(file)
      const result = await queue.run(organisationId, () => readInThread(file, signal), signal)
      if ('tooLarge' in result) throw captionTooLarge(result.tooLarge)
      return unpackLines(result.lines)
    },
    async close() {
      isClosed = true
      for (const { timer } of idle.splice(0)) clearTimeout(timer)
      await Promise.all([...threads].map(terminate))
    },
  }
}

function captionsBusy(message: string): DomainError {
  return new DomainError('unavailable', 'CAPTIONS_BUSY', message, { retryAfter: 1 })
}
