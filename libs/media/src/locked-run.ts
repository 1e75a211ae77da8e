import type { ChildProcess } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { EncodeFailed } from './media-errors.ts'
import { defaultLimits, type RunLimits, type Sandbox, sandboxFor, startInside } from './sandbox.ts'

export interface LockedRun {
  /** Path of ffmpeg or ffprobe. */
  tool: string
  args: readonly string[]
  /** The folder that the tool runs in, and is given to; names in `args` are relative to it. */
  scratch: string
  limits?: Partial<RunLimits> | undefined
  /** `all` for a tool that shuts itself in, see `sandboxFor`. */
  files?: Sandbox['files']
  /** Takes each line of stdout and says whether it shows progress. */
  onLine?: (line: string) => boolean
  signal?: AbortSignal | undefined
}

/** A run that ended well. */
export interface RunEnd {
  /** Processor seconds of the tool as last seen, half a second old at most; 0 where the system does not tell. */
  cpuSeconds: number
  /** The end of what it said on stderr. */
  stderr: string
}

/**
 * Runs a tool locked up (see `sandbox.ts`) in a process group of its own, which is killed as a whole: by the signal, by a stall, by the time
 * limits. Throws `EncodeFailed` unless it exits with 0.
 */
export async function lockedRun(run: LockedRun): Promise<RunEnd> {
  const limits = { ...defaultLimits, ...run.limits }
  if (run.signal?.aborted) throw new EncodeFailed('aborted', 'the work was cancelled before it began')
  const sandbox = await sandboxFor(run.tool, run.files)
  const child = await startInside(sandbox, run.tool, run.args, limits, run.scratch)
  const watch = watchRun(child, run, limits)
  const ended = await end(child)
  watch.stop()
  const stderr = watch.stderr()
  if (watch.fault() !== undefined) throw watch.fault()
  if (ended.code === 0 && watch.killedFor() === undefined) return { cpuSeconds: watch.cpuSeconds(), stderr }
  throw watch.killedFor() ?? failure(ended, stderr, watch.cpuSeconds(), limits)
}

interface Ended {
  code: number | null
  signal: NodeJS.Signals | null
  error?: Error
}

/** Ends when the process is gone and all that it wrote has been read. */
function end(child: ChildProcess): Promise<Ended> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ code: null, signal: null, error }))
    // What the tool may have started itself goes with it, else an inherited pipe would keep us waiting.
    child.once('exit', () => killGroup(child))
    child.once('close', (code, signal) => resolve({ code, signal }))
  })
}

const tickMilliseconds = 500
const stderrBytes = 16_384

function watchRun(child: ChildProcess, run: LockedRun, limits: RunLimits) {
  const started = performance.now()
  let advanced = started
  let cpuSeconds = 0
  let stderr = ''
  let killedFor: EncodeFailed | undefined
  /** What the caller's own reading of a line threw. */
  let fault: unknown

  const kill = (reason: EncodeFailed) => {
    killedFor ??= reason
    killGroup(child)
  }
  const abort = () => kill(new EncodeFailed('aborted', 'the work was cancelled'))
  run.signal?.addEventListener('abort', abort, { once: true })
  if (run.signal?.aborted) abort()

  const timer = setInterval(() => {
    const now = performance.now()
    if (now - advanced > limits.stallSeconds * 1000) {
      // Some builds wait for ever on a thread that could not get its memory.
      const stalled = new EncodeFailed('stalled', `no progress for ${limits.stallSeconds} s`, stderr)
      kill(noMemory.test(stderr) ? outOfMemory(limits, stderr) : stalled)
    } else if (now - started > limits.wallSeconds * 1000) {
      kill(new EncodeFailed('timeout', `not done after ${limits.wallSeconds} s`, stderr))
    }
    void cpuSecondsOf(child).then((seconds) => {
      cpuSeconds = Math.max(cpuSeconds, seconds)
    })
  }, tickMilliseconds)

  child.stdout?.setEncoding('utf8').on(
    'data',
    lines((line) => {
      if (fault !== undefined) return
      try {
        if (run.onLine?.(line)) advanced = performance.now()
      } catch (error) {
        fault = error
        killGroup(child)
      }
    }),
  )
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-stderrBytes)
  })
  return {
    stop: () => {
      clearInterval(timer)
      run.signal?.removeEventListener('abort', abort)
    },
    killedFor: () => killedFor,
    fault: () => fault,
    stderr: () => stderr,
    cpuSeconds: () => cpuSeconds,
  }
}

/** The child leads its process group, being started detached. */
function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    // Already gone.
  }
}

const lineBytes = 65_536

/** Cuts a stream of text into lines; what has no end of line within 64 kB is dropped. */
function lines(take: (line: string) => void): (text: string) => void {
  let rest = ''
  return (text) => {
    const parts = (rest + text).split('\n')
    rest = (parts.pop() ?? '').slice(-lineBytes)
    for (const part of parts) take(part)
  }
}

async function cpuSecondsOf(child: ChildProcess): Promise<number> {
  const stat = await readFile(`/proc/${child.pid}/stat`, 'utf8').catch(() => '')
  // Fields 14 and 15 of proc(5), in ticks of 1/100 s; the name in brackets before them may hold blanks.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / 100
}

function failure(ended: Ended, stderr: string, cpuSeconds: number, limits: RunLimits): EncodeFailed {
  if (ended.error) return new EncodeFailed('crashed', 'the tool cannot be started', ended.error.message)
  if (ended.signal === 'SIGXFSZ' || /File too large/.test(stderr)) {
    return new EncodeFailed('output_too_large', `a file passed ${limits.fileBytes} bytes`, stderr)
  }
  if (ended.signal === 'SIGXCPU' || (ended.signal === 'SIGKILL' && cpuSeconds > limits.cpuSeconds - 2)) {
    return new EncodeFailed('timeout', `used more than ${limits.cpuSeconds} s of processor time`, stderr)
  }
  if (ended.code === exitNoMemory || noMemory.test(stderr)) return outOfMemory(limits, stderr)
  return new EncodeFailed('crashed', ended.signal ? `ended by ${ended.signal}` : `exit code ${ended.code}`, stderr)
}

/** AVERROR(ENOMEM) as an exit code. */
const exitNoMemory = 256 - 12
const noMemory = /Cannot allocate memory|out of memory|bad_alloc|pthread_create\(\) failed/i

function outOfMemory(limits: RunLimits, stderr: string): EncodeFailed {
  return new EncodeFailed('out_of_memory', `needs more than ${limits.memoryBytes} bytes of memory`, stderr)
}
