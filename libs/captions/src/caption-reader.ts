import { DomainError } from '@vitascope/errors'
import { type CaptionFile, readCaptionFile } from './caption-file.ts'
import { type CaptionLine, captionTooLarge } from './caption-line.ts'
import { unpackLines } from './packed-lines.ts'
import { type ReadingThread, startReadingThread, type ThreadBounds } from './reading-thread.ts'
import { createTurns, type TurnBounds } from './turns.ts'

/** Reads files without holding up the process that it is in. */
export interface CaptionReader {
  /** As `readCaptions`; refuses with CAPTION_TOO_LARGE, and with CAPTIONS_BUSY where too many wait. */
  read(file: CaptionFile, organisationId: string, signal?: AbortSignal): Promise<CaptionLine[]>
  /** Ends the threads, and with them what they read. */
  close(): Promise<void>
}

export interface ReaderBounds extends ThreadBounds, TurnBounds {
  /** Units or bytes of a file that is read at once, without a thread: some 5 ms at the worst. */
  small: number
  /** Milliseconds that a thread waits for another file. */
  idleMs: number
}

const usual: ReaderBounds = {
  atOnce: 2,
  waiting: 16,
  waitingEach: 4,
  waitMs: 10_000,
  workMs: 2_000,
  heapMiB: 192,
  small: 65_536,
  idleMs: 30_000,
}

/** Threads are started when there is something to read. */
export function createCaptionReader(bounds: Partial<ReaderBounds> = {}): CaptionReader {
  const all = { ...usual, ...bounds }
  const inTurn = createTurns(all)
  const threads = new Set<ReadingThread>()
  const idle: { thread: ReadingThread; timer: NodeJS.Timeout }[] = []
  let isClosed = false

  const take = (): ReadingThread => {
    if (isClosed) throw stopping()
    const found = idle.pop()
    clearTimeout(found?.timer)
    const thread = found?.thread ?? startReadingThread(all)
    threads.add(thread)
    return thread
  }
  const end = async (thread: ReadingThread) => {
    await thread.end()
    threads.delete(thread)
  }
  const putBack = (thread: ReadingThread) => {
    const place = { thread, timer: setTimeout(() => void end(idle.splice(idle.indexOf(place), 1)[0]?.thread ?? thread), all.idleMs) }
    place.timer.unref()
    idle.push(place)
  }
  const readInThread = async (file: CaptionFile, signal?: AbortSignal) => {
    const thread = take()
    try {
      const answer = await thread.read(file, signal)
      putBack(thread)
      return answer
    } catch (error) {
      // Awaited: at most so many threads as there are turns.
      await end(thread)
      throw isClosed ? stopping() : error
    }
  }

  return {
    async read(file, organisationId, signal) {
      if (file.content.length <= all.small) return readCaptionFile(file)
      const answer = await inTurn(organisationId, () => readInThread(file, signal), signal)
      if ('tooLarge' in answer) throw captionTooLarge(answer.tooLarge)
      return unpackLines(answer.lines)
    },
    async close() {
      isClosed = true
      for (const { timer } of idle.splice(0)) clearTimeout(timer)
      await Promise.all([...threads].map(end))
    },
  }
}

const stopping = () => new DomainError('unavailable', 'CAPTIONS_BUSY', 'the service is about to stop: try again', { retryAfter: 1 })
