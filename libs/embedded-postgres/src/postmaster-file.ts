import { readdirSync, readFileSync, readlinkSync, realpathSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Setting on the command line of a server that identifies the process which started it. */
export const ownerSetting = 'vitascope.owner'

/** Above the highest process id of Linux, so no process can have it. */
const NO_PROCESS_ID = 2_147_483_646

/** The server that runs on a data folder. */
export interface Postmaster {
  pid: number
  /** The process that started it, if that is running and is not this process. */
  owner: number | undefined
}

/**
 * Returns the server that runs on this data folder, according to its `postmaster.pid`. PostgreSQL replaces a
 * file with the id of a dead process. It refuses to start forever if the id belongs to another program (ids are
 * reused) or to a zombie, so the id is replaced then. The rest of the file stays: with it the next server detects
 * whether processes of the previous one still use its shared memory.
 */
export function findPostmaster(dir: string): Postmaster | undefined {
  const file = join(dir, 'postmaster.pid')
  const content = readIfExists(file)
  if (content === undefined) return undefined
  const pid = Math.abs(Number.parseInt(content, 10))
  if (!Number.isSafeInteger(pid) || pid === 0 || pid === NO_PROCESS_ID || !exists(pid)) return undefined
  if (isAlive(pid) && servesFolder(pid, dir)) return { pid, owner: runningOwner(pid) }

  const replacement = `${file}.${process.pid}`
  writeFileSync(replacement, content.replace(/^-?\d+/, String(NO_PROCESS_ID)))
  if (readIfExists(file) === content) renameSync(replacement, file)
  return undefined
}

/** Returns the processes whose working directory is the data folder: backends that outlived their server. */
export function findBackends(dir: string): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid && isAlive(pid) && servesFolder(pid, dir))
}

/** Returns `<pid>.<start time>` of this process. A later process with the same id has another start time. */
export function processIdentity(): string {
  return `${process.pid}.${startTime(process.pid)}`
}

/** Returns whether a process runs and is not a zombie. */
export function isAlive(pid: number): boolean {
  const state = processStat(pid)?.[0]
  return state !== undefined && state !== 'Z' && state !== 'X'
}

function runningOwner(postmaster: number): number | undefined {
  const setting = commandLine(postmaster).find((arg) => arg.startsWith(`${ownerSetting}=`))
  const [pid = '', start = ''] = setting?.slice(ownerSetting.length + 1).split('.') ?? []
  if (pid === '' || `${pid}.${start}` === processIdentity()) return undefined
  return isAlive(Number(pid)) && startTime(Number(pid)) === start ? Number(pid) : undefined
}

function servesFolder(pid: number, dir: string): boolean {
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(dir)
  } catch {
    // The working directory of another user's process is not readable, but its command line is.
    const args = commandLine(pid)
    return args.includes(dir) && args.some((arg) => arg.endsWith('/postgres'))
  }
}

function commandLine(pid: number): string[] {
  return readIfExists(`/proc/${pid}/cmdline`)?.split('\0') ?? []
}

function startTime(pid: number): string {
  return processStat(pid)?.[19] ?? ''
}

function exists(pid: number): boolean {
  return processStat(pid) !== undefined
}

/** Returns the fields of /proc/pid/stat from the state on. The name before it may contain spaces and parentheses. */
function processStat(pid: number): string[] | undefined {
  const stat = readIfExists(`/proc/${pid}/stat`)
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
}

function readIfExists(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}
