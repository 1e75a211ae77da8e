import { readdirSync, readFileSync, readlinkSync, realpathSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The setting that a server carries on its command line to tell which process started it. */
export const ownerSetting = 'vitascope.owner'

/** Above the highest process id that Linux can give: names a process that is surely dead. */
const noProcess = 2_147_483_646

/** The server that runs on a data folder now. */
export interface Postmaster {
  pid: number
  /** The process that started it, when that one still lives and is not this one. */
  owner: number | undefined
}

/**
 * Who runs on this data folder, by its `postmaster.pid`. A file that names a dead process is left to PostgreSQL, which
 * takes it over. One that names a process of another program (ids are reused) or a zombie makes PostgreSQL refuse for
 * ever: the id in it is replaced. The rest of the file stays, since by it the next server finds out whether processes of
 * the last one still hold its shared memory.
 */
export function findPostmaster(dir: string): Postmaster | undefined {
  const file = join(dir, 'postmaster.pid')
  const content = readIfThere(file)
  if (content === undefined) return undefined
  const pid = Math.abs(Number.parseInt(content, 10))
  if (!Number.isSafeInteger(pid) || pid === 0 || pid === noProcess || !exists(pid)) return undefined
  if (isAlive(pid) && servesFolder(pid, dir)) return { pid, owner: livingOwner(pid) }

  const aside = `${file}.${process.pid}`
  writeFileSync(aside, content.replace(/^-?\d+/, String(noProcess)))
  if (readIfThere(file) === content) renameSync(aside, file)
  return undefined
}

/** Processes whose working folder is the data folder: backends that outlived their server. */
export function processesOf(dir: string): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid && isAlive(pid) && servesFolder(pid, dir))
}

/** `<pid>.<start time>` of this process: a later process with the same id starts at another time. */
export function ownName(): string {
  return `${process.pid}.${startTime(process.pid)}`
}

/** Runs, and is not a zombie. */
export function isAlive(pid: number): boolean {
  const state = processStat(pid)?.[0]
  return state !== undefined && state !== 'Z' && state !== 'X'
}

function livingOwner(postmaster: number): number | undefined {
  const setting = commandLine(postmaster).find((arg) => arg.startsWith(`${ownerSetting}=`))
  const [pid = '', start = ''] = setting?.slice(ownerSetting.length + 1).split('.') ?? []
  if (pid === '' || `${pid}.${start}` === ownName()) return undefined
  return isAlive(Number(pid)) && startTime(Number(pid)) === start ? Number(pid) : undefined
}

function servesFolder(pid: number, dir: string): boolean {
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(dir)
  } catch {
    // Another user's process hides its folder; its command line is open to all.
    const args = commandLine(pid)
    return args.includes(dir) && args.some((arg) => arg.endsWith('/postgres'))
  }
}

function commandLine(pid: number): string[] {
  return readIfThere(`/proc/${pid}/cmdline`)?.split('\0') ?? []
}

function startTime(pid: number): string {
  return processStat(pid)?.[19] ?? ''
}

function exists(pid: number): boolean {
  return processStat(pid) !== undefined
}

/** The fields of /proc/pid/stat from the state on; the name before it may hold spaces and brackets. */
function processStat(pid: number): string[] | undefined {
  const stat = readIfThere(`/proc/${pid}/stat`)
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}
