import { readFile } from 'node:fs/promises'
import { constants } from 'node:os'
import { basename } from 'node:path'
import { traced } from '@vitascope/telemetry'
import { EncodeError } from './media-errors.ts'
import { defaultLimits, type RunLimits, type Sandbox, type StartedRun, sandboxFor, startInSandbox } from './sandbox.ts'

export interface SandboxedRun {
  /** Path of ffmpeg or ffprobe. */
  tool: string
  args: readonly string[]
  /** Folder that the tool runs in and reads. File names in `args` are relative to it. */
  scratch: string
  /**
   * Subfolders that the tool may write to, which must contain nothing else; none by default. `.` is
   * the scratch folder itself.
   */
  writes?: readonly string[]
  limits?: Partial<RunLimits> | undefined
  /** `all` for a tool with its own file sandbox, see `sandboxFor`. */
  files?: Sandbox['files']
  /** Called for each line of stdout. Returns whether the line shows progress. */
  onLine?: (line: string) => boolean
  signal?: AbortSignal | undefined
}

/** Result of a successful run. */
export interface RunResult {
  /** CPU seconds of the tool, up to half a second old; 0 if the system does not report it. */
  cpuSeconds: number
  /** End of the output on stderr. */
  stderr: string
}

/**
 * Runs a tool in the sandbox (see `sandbox.ts`) in its own process group. The group is killed by
 * the signal, a stall, or the time limits. Throws `EncodeError` unless the tool exits with 0.
 */
export function runSandboxed(run: SandboxedRun): Promise<RunResult> {
  const tool = basename(run.tool)
  return traced(
    () => ({ name: tool, attributes: { 'process.executable.name': tool } }),
    async (span) => {
      const result = await runTool(run)
      span.setAttributes({ 'vitascope.cpu_seconds': result.cpuSeconds })
      return result
    },
  )
}

async function runTool(run: SandboxedRun): Promise<RunResult> {
  const limits = { ...defaultLimits, ...run.limits }
  if (run.signal?.aborted) throw new EncodeError('aborted', 'the work was cancelled before it began')
  const sandbox = await sandboxFor(run.tool, run.files)
  const started = await startInSandbox(sandbox, { ...run, limits })
  const watch = watchRun(started, run, limits)
  const ended = decodeExit(sandbox, await waitForEnd(started))
  watch.stop()
  const stderr = watch.stderr()
  if (watch.fault() !== undefined) throw watch.fault()
  if (ended.code === 0 && watch.killReason() === undefined) return { cpuSeconds: watch.cpuSeconds(), stderr }
  throw watch.killReason() ?? toFailure(ended, stderr, watch.cpuSeconds(), limits)
}

interface ProcessEnd {
  code: number | null
  signal: NodeJS.Signals | null
  error?: Error
}

/**
 * Resolves when the process has ended, all its descendants are killed, and its output is read. A
 * process that left its group, on a machine without stronger restrictions, cannot be killed and may
 * keep the pipes open; then they are closed on this side.
 */
function waitForEnd({ child, kill }: StartedRun): Promise<ProcessEnd> {
  return new Promise((resolve, reject) => {
    let killed = Promise.resolve()
    child.once('error', (error) => resolve({ code: null, signal: null, error }))
    child.once('exit', () => {
      killed = kill()
      killed.catch(reject)
      const closing = setTimeout(() => {
        child.stdout?.destroy()
        child.stderr?.destroy()
      }, CLOSE_TIMEOUT_MS)
      child.once('close', () => clearTimeout(closing))
    })
    child.once('close', (code, signal) => {
      killed.then(() => resolve({ code, signal }), reject)
    })
  })
}

/** Time in ms to read the remaining output after the exit, which is far more than necessary. */
const CLOSE_TIMEOUT_MS = 5_000

/**
 * Converts an exit code of 128 plus a signal number to that signal: the first process of a PID
 * namespace cannot end by a signal as the tool did.
 */
function decodeExit(sandbox: Sandbox, ended: ProcessEnd): ProcessEnd {
  const number = (ended.code ?? 0) - 128
  if (sandbox.endsBy !== 'namespace' || number <= 0) return ended
  const [signal] = Object.entries(constants.signals).find(([, value]) => value === number) ?? []
  // ffmpeg exits with 256 minus an error number. Only the error numbers 97 to 127, which are errors
  // of networks and rare devices, result in a code that is also 128 plus a signal number.
  return signal === undefined ? ended : { code: null, signal: signal as NodeJS.Signals }
}

const CHECK_INTERVAL_MS = 500
const MAX_STDERR_CHARACTERS = 16_384

function watchRun({ child, kill: killAll }: StartedRun, run: SandboxedRun, limits: RunLimits) {
  const started = performance.now()
  let progressTime = started
  let cpuSeconds = 0
  let stderr = ''
  let killReason: EncodeError | undefined
  /** Error thrown by `onLine`, or by killing the run. */
  let fault: unknown

  const killProcesses = () =>
    void killAll().catch((error: unknown) => {
      fault ??= error
    })
  const kill = (reason: EncodeError) => {
    killReason ??= reason
    killProcesses()
  }
  const abort = () => kill(new EncodeError('aborted', 'the work was cancelled'))
  run.signal?.addEventListener('abort', abort, { once: true })
  if (run.signal?.aborted) abort()

  const timer = setInterval(() => {
    const now = performance.now()
    if (now - progressTime > limits.stallSeconds * 1000) {
      // Some builds wait forever for a thread that could not allocate its memory.
      const stalled = new EncodeError('stalled', `no progress for ${limits.stallSeconds} s`, stderr)
      kill(OUT_OF_MEMORY_MESSAGE.test(stderr) ? outOfMemoryError(limits, stderr) : stalled)
    } else if (now - started > limits.wallSeconds * 1000) {
      kill(new EncodeError('timeout', `not finished after ${limits.wallSeconds} s`, stderr))
    }
    void readCpuSeconds(child.pid).then((seconds) => {
      cpuSeconds = Math.max(cpuSeconds, seconds)
    })
  }, CHECK_INTERVAL_MS)

  child.stdout?.setEncoding('utf8').on(
    'data',
    splitLines((line) => {
      if (fault !== undefined) return
      try {
        if (run.onLine?.(line)) progressTime = performance.now()
      } catch (error) {
        fault = error
        killProcesses()
      }
    }),
  )
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-MAX_STDERR_CHARACTERS)
  })
  return {
    stop: () => {
      clearInterval(timer)
      run.signal?.removeEventListener('abort', abort)
    },
    killReason: () => killReason,
    fault: () => fault,
    stderr: () => stderr,
    cpuSeconds: () => cpuSeconds,
  }
}

const MAX_PENDING_CHARACTERS = 65_536

/**
 * Returns a function that splits a text stream into lines. Of a line that has not ended, only the
 * last MAX_PENDING_CHARACTERS are kept.
 */
function splitLines(onLine: (line: string) => void): (text: string) => void {
  let rest = ''
  return (text) => {
    const parts = (rest + text).split('\n')
    rest = (parts.pop() ?? '').slice(-MAX_PENDING_CHARACTERS)
    for (const part of parts) onLine(part)
  }
}

/**
 * Returns the CPU seconds of a process, its ended children, and its running children. In a PID
 * namespace the tool is a grandchild.
 */
async function readCpuSeconds(pid: number | undefined, depth = 0): Promise<number> {
  if (pid === undefined) return 0
  const [stat, children] = await Promise.all(
    [`/proc/${pid}/stat`, `/proc/${pid}/task/${pid}/children`].map((file) => readFile(file, 'utf8').catch(emptyIfMissing)),
  )
  // Fields 14 to 17 of proc(5), in ticks of 1/100 s. The name in parentheses before them may
  // contain spaces.
  const fields = (stat ?? '').slice((stat ?? '').lastIndexOf(')') + 2).split(' ')
  const own = fields.slice(11, 15).reduce((sum, ticks) => sum + (Number(ticks) || 0), 0) / 100
  if (depth === MAX_CHILD_DEPTH) return own
  const pids = (children ?? '').split(' ').filter((text) => text !== '')
  const childSeconds = await Promise.all(pids.map((text) => readCpuSeconds(Number(text), depth + 1)))
  return childSeconds.reduce((sum, seconds) => sum + seconds, own)
}

/**
 * Depth of the tool below the started process: unshare, the first process of the namespace, a
 * script, the tool.
 */
const MAX_CHILD_DEPTH = 4
const emptyIfMissing = () => ''

/** Returns the error of a run that was not killed by `watchRun` and did not exit with 0. */
function toFailure(ended: ProcessEnd, stderr: string, cpuSeconds: number, limits: RunLimits): EncodeError {
  if (ended.error || NOT_STARTED_EXIT_CODES.has(ended.code ?? 0)) {
    return new EncodeError('crashed', 'the tool cannot be started', ended.error?.message ?? stderr)
  }
  if (ended.signal === 'SIGXFSZ' || /File too large/.test(stderr)) {
    return new EncodeError('output_too_large', `a file exceeded ${limits.fileBytes} bytes`, stderr)
  }
  if (ended.signal === 'SIGXCPU' || (ended.signal === 'SIGKILL' && cpuSeconds > limits.cpuSeconds - 2)) {
    return new EncodeError('timeout', `used more than ${limits.cpuSeconds} s of processor time`, stderr)
  }
  if (ended.code === OUT_OF_MEMORY_EXIT_CODE || OUT_OF_MEMORY_MESSAGE.test(stderr)) return outOfMemoryError(limits, stderr)
  return new EncodeError('crashed', ended.signal ? `ended by ${ended.signal}` : `exit code ${ended.code}`, stderr)
}

/** Exit codes of the programs that restrict the tool and then execute it: it cannot be executed, or does not exist. */
const NOT_STARTED_EXIT_CODES: ReadonlySet<number> = new Set([126, 127])
/** AVERROR(ENOMEM) as an exit code. */
const OUT_OF_MEMORY_EXIT_CODE = 256 - 12
const OUT_OF_MEMORY_MESSAGE = /Cannot allocate memory|out of memory|bad_alloc|pthread_create\(\) failed/i

function outOfMemoryError(limits: RunLimits, stderr: string): EncodeError {
  return new EncodeError('out_of_memory', `needs more than ${limits.memoryBytes} bytes of memory`, stderr)
}
