import type { FfmpegTools } from './find-ffmpeg.ts'
import { EncodeError } from './media-errors.ts'
import type { RunLimits } from './sandbox.ts'
import { type RunResult, runSandboxed } from './sandboxed-process.ts'

export interface FfprobeRun {
  tools: FfmpegTools
  scratch: string
  args: readonly string[]
  limits?: Partial<RunLimits> | undefined
  signal?: AbortSignal | undefined
}

const limits: Partial<RunLimits> = { cpuSeconds: 600, wallSeconds: 600, stallSeconds: 30, fileBytes: 0, memoryBytes: 2 ** 30 }
const MAX_OUTPUT_BYTES = 4 << 20

/**
 * Returns the complete output of an ffprobe run. Throws `output_too_large` if it exceeds
 * MAX_OUTPUT_BYTES.
 */
export async function ffprobeText(run: FfprobeRun): Promise<{ text: string; end: RunResult }> {
  const lines: string[] = []
  let bytes = 0
  const end = await ffprobeLines(run, (line) => {
    bytes += line.length + 1
    if (bytes <= MAX_OUTPUT_BYTES) lines.push(line)
  })
  if (bytes > MAX_OUTPUT_BYTES) throw new EncodeError('output_too_large', 'the output of ffprobe is too large')
  return { text: lines.join('\n'), end }
}

/** Runs ffprobe and calls `onLine` for each line of its output. Each line counts as progress. */
export function ffprobeLines(run: FfprobeRun, onLine: (line: string) => void): Promise<RunResult> {
  return runSandboxed({
    tool: run.tools.ffprobe,
    args: ['-hide_banner', '-v', 'error', ...run.args],
    scratch: run.scratch,
    limits: { ...limits, ...run.limits },
    onLine: (line) => {
      onLine(line)
      return true
    },
    signal: run.signal,
  })
}
