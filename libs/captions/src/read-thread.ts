import { parentPort } from 'node:worker_threads'
import { isDomainError } from '@vitascope/errors'
import { type CaptionFile, readCaptionFile } from './caption-file.ts'
import { type PackedLines, packLines } from './packed-lines.ts'

/** What the thread says of a file. */
export type ReadAnswer = { lines: PackedLines } | { tooLarge: string }

/** First of all it says that it is ready. */
export type ThreadAnswer = { ready: true } | ReadAnswer

/** What runs in a thread of its own: one file after the other. */
parentPort?.on('message', (file: CaptionFile) => {
  const answer = read(file)
  parentPort?.postMessage(answer, 'lines' in answer ? [answer.lines.numbers.buffer] : [])
})
parentPort?.postMessage({ ready: true } satisfies ThreadAnswer)

function read(file: CaptionFile): ReadAnswer {
  try {
    return { lines: packLines(readCaptionFile(file)) }
  } catch (error) {
    // Readers refuse in this one way. All else is a fault, and ends the thread.
    if (isDomainError(error) && error.reason === 'CAPTION_TOO_LARGE') return { tooLarge: error.message }
    throw error
  }
}
