import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { access, constants, mkdtemp, open, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { type CallFilter, callFilter } from './call-filter.ts'
import { findToolFiles, landlockCommand, loadCommand, MISSING_LIBRARY, passedToolPath, restrictedCommand } from './landlock.ts'
import { EncodeError } from './media-errors.ts'
import { type ProcessLimit, processLimitFor } from './process-limit.ts'
import { createRunFolders, toolUserRanges, type UserIdRange } from './tool-user.ts'

/** Limits of one run. */
export interface RunLimits {
  cpuSeconds: number
  wallSeconds: number
  /** Seconds without progress after which the run is killed. */
  stallSeconds: number
  /** Maximum size of each file. */
  fileBytes: number
  memoryBytes: number
  /** Niceness as in nice(1): 0 to 19. */
  niceness: number
}

export const defaultLimits: RunLimits = {
  cpuSeconds: 24 * 3600,
  wallSeconds: 24 * 3600,
  stallSeconds: 30,
  fileBytes: 64 * 2 ** 30,
  memoryBytes: 3 * 2 ** 30,
  niceness: 10,
}

/** The restrictions that this machine supports for a tool. */
export interface Sandbox {
  /**
   * Users that a tool can run as; the user must own the folders that the tool writes to. Undefined
   * if it runs as the worker's own user.
   */
  users: UserIdRange | undefined
  /**
   * `own`: the tool reads only its folder, its own files and the system's programs, writes only to
   * its writable folders, and cannot inspect other processes.
   */
  files: 'own' | 'all'
  /** Landlock ABI version if `files` is `own`. */
  landlock: number | undefined
  /**
   * Whether a system call filter is installed. See `call-filter.ts`. Without it, and with the
   * variant for LibreOffice, the tool can create sockets.
   */
  calls: 'filtered' | 'all'
  network: 'none' | 'open'
  /**
   * Method of killing all processes of a run: the kernel kills them with their PID namespace, all
   * processes of the user of the run are killed, or the process group is killed. The system call
   * filter prevents leaving the group.
   */
  endsBy: 'namespace' | 'user' | 'group'
  processLimit: ProcessLimit
  diesWithParent: boolean
  /**
   * The tool's user cannot access the tool by its path (for example in a checkout below a private
   * home), so it is passed as an open file.
   */
  passesToolAsFile: boolean
  /** Returns the command that runs `tool` with `args` in the sandbox. */
  wrap(tool: string, args: readonly string[], options: WrapOptions): { command: string; args: string[] }
}

export interface WrapOptions {
  limits: RunLimits
  /** Writable folders, relative to the folder of the run. */
  writes: readonly string[]
  /** User of the run. Undefined for the worker's own user. */
  user: number | undefined
}

export interface ToolCommand {
  tool: string
  args: readonly string[]
  limits: RunLimits
  /** Folder that the tool runs in. */
  scratch: string
  writes?: readonly string[] | undefined
}

export interface StartedRun {
  child: ChildProcess
  /** Sends SIGKILL to all processes of the run. Resolves when the signal is sent. */
  kill(): Promise<void>
}

/**
 * Starts a tool in the sandbox, in its own process group. It does not await anything after the
 * start, so that the caller can attach its listeners in time.
 */
export async function startInSandbox(sandbox: Sandbox, { tool, args, limits, scratch, writes = [] }: ToolCommand): Promise<StartedRun> {
  const user = await createRunFolders(sandbox, scratch, writes)
  const options = { cwd: scratch, env: toolEnvironment, detached: true }
  if (!sandbox.passesToolAsFile) {
    const wrapped = sandbox.wrap(tool, args, { limits, writes, user })
    return toStartedRun(spawn(wrapped.command, wrapped.args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] }), { sandbox, limits, user })
  }
  // The fourth descriptor is the program itself; a link in the folder provides its name.
  const name = basename(tool)
  await symlink('/proc/self/fd/3', join(scratch, name)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  const program = await open(tool, 'r')
  try {
    const wrapped = sandbox.wrap(`./${name}`, args, { limits, writes, user })
    return toStartedRun(spawn(wrapped.command, wrapped.args, { ...options, stdio: ['ignore', 'pipe', 'pipe', program.fd] }), {
      sandbox,
      limits,
      user,
    })
  } finally {
    // The child has its own copy of the descriptor.
    program.close().catch(ignoreCloseError)
  }
}

interface RunContext {
  sandbox: Sandbox
  limits: RunLimits
  user: number | undefined
}

function toStartedRun(child: ChildProcess, { sandbox, limits, user }: RunContext): StartedRun {
  lowerPriority(child, limits)
  return {
    child,
    async kill() {
      killGroup(child)
      if (sandbox.endsBy === 'user' && user !== undefined) await killProcesses(user)
    },
  }
}

/** Kills the process group. The child was started detached, so it leads its process group. */
function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    // The group has already ended.
  }
}

/** Kills all processes of a user. kill(2) with -1 signals all that the user may signal. */
function killProcesses(user: number): Promise<void> {
  const args = [...userOptions(user), '--', '/bin/sh', '-c', 'kill -KILL -1']
  const killer = spawn('setpriv', args, { env: toolEnvironment, stdio: 'ignore' })
  return new Promise((resolve, reject) => {
    killer.once('error', reject)
    killer.once('exit', () => resolve())
  })
}

/**
 * Lowers the priority of a run. If the system groups processes by session (sched(7), autogroup),
 * niceness applies within a session only, and each run leads its own session. So the niceness of
 * the group is set too.
 */
function lowerPriority(child: ChildProcess, { niceness }: RunLimits): void {
  if (child.pid !== undefined) writeFile(`/proc/${child.pid}/autogroup`, String(niceness)).catch(ignoreError)
}

/** Ignores an error of `lowerPriority`: no groups, no permission, or the tool has ended. */
const ignoreError = () => {}
/** A descriptor that was only read loses no data if closing it fails. */
const ignoreCloseError = () => {}

/**
 * Returns the strongest sandbox that works for a tool, determined once for each tool. A container
 * or system may forbid some restrictions. With `files` set to `all` the tool applies its own file
 * sandbox, which it could not do from within another one.
 */
export function sandboxFor(tool: string, files: Sandbox['files'] = 'own'): Promise<Sandbox> {
  const key = `${files} ${tool}`
  const existing = sandboxes.get(key)
  if (existing) return existing
  const sandbox = findSandbox(tool, files)
  sandboxes.set(key, sandbox)
  sandbox.catch(() => sandboxes.delete(key))
  return sandbox
}

/**
 * The complete environment of a tool. Statically linked builds crash on the system's gconv modules,
 * so their path does not exist.
 */
export const toolEnvironment = { PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8', GCONV_PATH: '/nonexistent' }

const sandboxes = new Map<string, Promise<Sandbox>>()

interface Restriction {
  namespaces: readonly string[]
  users?: UserIdRange
  files?: 'own'
  filter?: CallFilter | undefined
  passesToolAsFile?: boolean
}

async function findSandbox(tool: string, files: Sandbox['files']): Promise<Sandbox> {
  await access(tool, constants.X_OK).catch((error: Error) => {
    throw new EncodeError('crashed', 'the tool cannot be started', error.message)
  })
  const tools = {
    unshare: await findOnPath('unshare'),
    prlimit: await findOnPath('prlimit'),
    nice: await findOnPath('nice'),
    setpriv: await findOnPath('setpriv'),
    test: await findOnPath('test'),
    env: await findOnPath('env'),
    perl: await findOnPath('perl'),
    toolFiles: await findToolFiles(tool),
  }
  const programs: Programs = { ...tools, landlock: tools.perl === undefined ? undefined : await landlockVersion(tools.perl) }
  for (const restriction of restrictionsToTry(process.getuid?.() === 0)) {
    // With `files` set to `all`, the tool creates its own namespaces and mounts, which these
    // restrictions would deny.
    if ((restriction.files === 'own' || restriction.filter) && files === 'all') continue
    const sandbox = toSandbox(restriction, programs)
    if (sandbox && (await isUsable(sandbox, tool, tools))) return sandbox
  }
  return toSandbox({ namespaces: [] }, { ...programs, setpriv: undefined }) ?? noSandbox
}

/**
 * Returns the combinations to try, strongest first. As root the tool gets its own user. Without
 * root, a user namespace at least removes the network.
 */
function restrictionsToTry(isRoot: boolean): Restriction[] {
  const namespacesWithoutRoot = [[...NETWORK_NAMESPACE, ...PROCESS_NAMESPACES], NETWORK_NAMESPACE, []]
  const withWorkerUser = restrictionsByImportance([
    ...namespacesWithoutRoot.map((namespaces) => ({ namespaces: ['--user', ...namespaces] })),
    { namespaces: [] },
  ])
  if (!isRoot) return withWorkerUser
  const withOwnUser = [[...NETWORK_NAMESPACE, ...PROCESS_NAMESPACES], NETWORK_NAMESPACE, PROCESS_NAMESPACES, []].flatMap((namespaces) =>
    toolUserRanges.flatMap((users) => [
      { namespaces, users },
      { namespaces, users, passesToolAsFile: true },
    ]),
  )
  return [...restrictionsByImportance(withOwnUser), ...withWorkerUser]
}

const NETWORK_NAMESPACE = ['--net']
/** System V shared memory and queues outlive processes, so they need an IPC namespace. */
const PROCESS_NAMESPACES = ['--pid', '--ipc', '--fork', '--kill-child=KILL']

/**
 * Returns the combinations ordered by importance: restricting files is more important than
 * filtering calls, and both are more important than removing the network.
 */
function restrictionsByImportance(restrictions: readonly Restriction[]): Restriction[] {
  const filter = callFilter('tool')
  const parts: Partial<Restriction>[] = [{ files: 'own', filter }, { files: 'own' }, { filter }, {}]
  return parts.flatMap((part) => restrictions.map((restriction): Restriction => ({ ...restriction, ...part })))
}

type Programs = Record<'unshare' | 'prlimit' | 'nice' | 'setpriv' | 'perl', string | undefined> & {
  toolFiles: readonly string[]
  landlock: number | undefined
}

function toSandbox(restriction: Restriction, programs: Programs): Sandbox | undefined {
  const { unshare, prlimit, nice, setpriv, perl } = programs
  const { namespaces, filter } = restriction
  // Whether the command is the first process of a PID namespace.
  const isFirst = namespaces.includes('--pid')
  if (namespaces.length > 0 && unshare === undefined) return undefined
  // Without the first setpriv, a namespace would outlive a killed worker. A filter requires
  // no_new_privs.
  if ((restriction.users || restriction.files || filter || isFirst) && setpriv === undefined) return undefined
  if ((restriction.files || filter || isFirst) && perl === undefined) return undefined
  const processLimit = processLimitFor({ hasOwnUser: restriction.users !== undefined, hasUserNamespace: namespaces.includes('--user') })
  // A change of user clears the parent death signal and makes /proc/self inaccessible until the
  // next exec. So the user is changed first, and a second setpriv sets the signal.
  const endWithParent = setpriv === undefined ? [] : [setpriv, '--pdeathsig', 'KILL', '--']
  return {
    users: restriction.users,
    files: restriction.files ?? 'all',
    landlock: restriction.files && programs.landlock,
    calls: filter ? 'filtered' : 'all',
    passesToolAsFile: restriction.passesToolAsFile ?? false,
    // The filter blocks the creation of sockets.
    network: namespaces.includes('--net') || filter ? 'none' : 'open',
    endsBy: isFirst ? 'namespace' : restriction.users ? 'user' : 'group',
    processLimit,
    diesWithParent: setpriv !== undefined,
    wrap(tool, args, { limits, writes, user }) {
      const chain: string[] = []
      // unshare stays outside as the parent of the namespace.
      if (isFirst) chain.push(...endWithParent)
      if (unshare !== undefined && namespaces.length > 0) chain.push(unshare, ...namespaces, '--')
      if (prlimit !== undefined) chain.push(prlimit, ...limitOptions(limits, processLimit), '--')
      if (nice !== undefined) chain.push(nice, '-n', String(limits.niceness))
      if (setpriv !== undefined) chain.push(setpriv, ...userOptions(user), '--no-new-privs', '--', ...endWithParent)
      const ownFiles = restriction.files && { toolFiles: restriction.passesToolAsFile ? passedToolPath : programs.toolFiles, writes }
      if (perl !== undefined) chain.push(...restrictedCommand(perl, { ownFiles, filter, isFirst }))
      const [command = tool, ...rest] = [...chain, tool, ...args]
      return { command, args: rest }
    },
  }
}

const noSandbox: Sandbox = {
  users: undefined,
  files: 'all',
  landlock: undefined,
  calls: 'all',
  passesToolAsFile: false,
  network: 'open',
  endsBy: 'group',
  processLimit: { kind: 'none' },
  diesWithParent: false,
  wrap: (tool, args) => ({ command: tool, args: [...args] }),
}

/**
 * `--data` counts memory that a process can write to. `--as` would also count the address space
 * that allocator arenas only reserve.
 */
function limitOptions(limits: RunLimits, processes: ProcessLimit): string[] {
  return [
    `--cpu=${Math.ceil(limits.cpuSeconds)}`,
    `--fsize=${Math.ceil(limits.fileBytes)}`,
    `--data=${Math.ceil(limits.memoryBytes)}`,
    '--core=0',
    '--nofile=1024',
    ...(processes.kind === 'none' ? [] : [`--nproc=${processes.processes}`]),
  ]
}

function userOptions(user: number | undefined): string[] {
  return user === undefined ? [] : [`--reuid=${user}`, `--regid=${user}`, '--clear-groups', '--inh-caps=-all']
}

async function landlockVersion(perl: string): Promise<number | undefined> {
  const [command = perl, ...args] = landlockCommand(perl)
  const { stdout } = await promisify(execFile)(command, args, { env: toolEnvironment })
  return Number(stdout) > 0 ? Number(stdout) : undefined
}

async function findOnPath(program: string): Promise<string | undefined> {
  for (const folder of toolEnvironment.PATH.split(':')) {
    const path = join(folder, program)
    if (await access(path, constants.X_OK).then(returnTrue, returnFalse)) return path
  }
  return undefined
}

const returnTrue = () => true
const returnFalse = () => false

/**
 * Returns whether the tool is executable in the sandbox and has its libraries. With restricted
 * files, it runs `loadCommand`, else it only checks the permission.
 */
async function isUsable(sandbox: Sandbox, tool: string, { test, env }: Record<'test' | 'env', string | undefined>): Promise<boolean> {
  if (test === undefined || env === undefined) return false
  const checkCommand = (path: string) => (sandbox.files === 'own' ? loadCommand(env, path) : [test, '-x', path])
  const folder = await mkdtemp(join(tmpdir(), 'vitascope-sandbox-'))
  try {
    // Root in a container may lack the permission to change owners, or may not have these ids.
    if (!(await createRunFolders(sandbox, folder, ['.']).then(returnTrue, returnFalse))) return false
    const { child } = await startInSandbox(
      {
        ...sandbox,
        wrap: (path, _, run) => {
          const [program = path, ...args] = checkCommand(path)
          return sandbox.wrap(program, args, run)
        },
      },
      { tool, args: [], limits: defaultLimits, scratch: folder, writes: ['.'] },
    )
    let output = ''
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
    child.stderr?.resume()
    return await new Promise<boolean>((resolve) => {
      child.once('error', () => resolve(false))
      child.once('close', (code) => resolve(code === 0 && !MISSING_LIBRARY.test(output)))
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
