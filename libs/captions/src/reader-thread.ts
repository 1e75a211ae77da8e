import { parentPort } from 'node:worker_threads'
import { isDomainError } from '@vitascope/errors'
import { type PackedLines, packLines } from './packed-lines.ts'
import { type CaptionFile, readCaptionFile } from './read-captions.ts'

export type ReadResult = { lines: PackedLines } | { tooLarge: string }

/** The thread first reports that it is ready, then one result per file. */
export type ThreadMessage = { ready: true } | ReadResult

parentPort?.on('message', (file: CaptionFile) => {
  const result = read(file)
  parentPort?.postMessage(result, 'lines' in result ? [result.lines.numbers.buffer] : [])
})
parentPort?.postMessage({ ready: true } satisfies ThreadMessage)

function read(file: CaptionFile): ReadResult {
  try {
    return { lines: packLines(readCaptionFile(file)) }
  } catch (error) {
    // CAPTION_TOO_LARGE is the only error of the readers. Any other error is a defect and ends the thread.
    if (isDomainError(error) && error.reason === 'CAPTION_TOO_LARGE') return { tooLarge: error.message }
    throw error
  }
}
