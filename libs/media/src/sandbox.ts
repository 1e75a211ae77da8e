import { type ChildProcess, spawn } from 'node:child_process'
import { access, constants, mkdtemp, open, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { EncodeFailed } from './media-errors.ts'
import { filesOf, handedOver, loadCommand, missing, ownFilesCommand } from './own-files.ts'
import { makeFolderFor, type ToolUsers, toolUsers } from './tool-user.ts'

/** What one run may use. */
export interface RunLimits {
  cpuSeconds: number
  wallSeconds: number
  /** Seconds without any progress after which the run is killed. */
  stallSeconds: number
  /** Of each single file. */
  fileBytes: number
  memoryBytes: number
  /** How far it gives way to others, as nice(1): 0 to 19. */
  niceness: number
}

export const defaultLimits: RunLimits = {
  cpuSeconds: 24 * 3600,
  wallSeconds: 24 * 3600,
  stallSeconds: 30,
  fileBytes: 64 * 2 ** 30,
  memoryBytes: 3 * 2 ** 30,
  niceness: 5,
}

/** How far this machine lets a tool be locked up. */
export interface Sandbox {
  /** Of whom the tool runs as one, which must own what it writes; undefined where it runs as our own user. */
  users: ToolUsers | undefined
  /** `own`: it can open no other files than its folder, itself and the system's programs, and sees no other process. */
  files: 'own' | 'all'
  network: 'none' | 'open'
  diesWithParent: boolean
  /** The tool's user cannot reach the tool by its path (a checkout under a private home): it is handed over as an open file. */
  handsOver: boolean
  /** The command that runs `tool` with `args` inside, as `user` where it runs as one of `users`. */
  wrap(tool: string, args: readonly string[], limits: RunLimits, user: number | undefined): { command: string; args: string[] }
}

/** Starts a tool inside: its folder is `scratch`, its process group its own. Nothing is waited for after its start, so that its caller hears of its end. */
export async function startInside(
  sandbox: Sandbox,
  tool: string,
  args: readonly string[],
  limits: RunLimits,
  scratch: string,
): Promise<ChildProcess> {
  const user = await makeFolderFor(sandbox, scratch)
  const options = { cwd: scratch, env: toolEnvironment, detached: true }
  if (!sandbox.handsOver) {
    const inside = sandbox.wrap(tool, args, limits, user)
    return givingWay(spawn(inside.command, inside.args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] }), limits)
  }
  // The fourth descriptor is the program itself; a link in the folder gives it its name.
  const name = basename(tool)
  await symlink('/proc/self/fd/3', join(scratch, name)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  const program = await open(tool, 'r')
  try {
    const inside = sandbox.wrap(`./${name}`, args, limits, user)
    return givingWay(spawn(inside.command, inside.args, { ...options, stdio: ['ignore', 'pipe', 'pipe', program.fd] }), limits)
  } finally {
    // The child has its own.
    program.close().catch(closed)
  }
}

/**
 * Where the system groups processes by session (sched(7), autogroup), niceness counts inside a session alone, and each run leads its own: the group
 * as a whole is told to give way too.
 */
function givingWay(child: ChildProcess, { niceness }: RunLimits): ChildProcess {
  if (child.pid !== undefined) writeFile(`/proc/${child.pid}/autogroup`, String(niceness)).catch(notGrouped)
  return child
}

/** A wish, not a condition of the run: without such groups, without the right, or where the tool has ended already, niceness counts as it is. */
const notGrouped = () => {}
/** A descriptor that was read from only has nothing to lose. */
const closed = () => {}

/**
 * Finds out once per tool what works, from the strongest lock to none; a container or another system may forbid some of it. With `files` as `all` it
 * is left to the tool to shut itself in, which it could not do from within.
 */
export function sandboxFor(tool: string, files: Sandbox['files'] = 'own'): Promise<Sandbox> {
  const key = `${files} ${tool}`
  const known = sandboxes.get(key)
  if (known) return known
  const found = findSandbox(tool, files)
  sandboxes.set(key, found)
  found.catch(() => sandboxes.delete(key))
  return found
}

/** All that a tool sees of the environment. Statically linked builds crash on the system's modules for old character sets, so there are none. */
export const toolEnvironment = { PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8', GCONV_PATH: '/nonexistent' }

const sandboxes = new Map<string, Promise<Sandbox>>()

interface Lock {
  namespaces: readonly string[]
  users?: ToolUsers
  files?: 'own'
  handsOver?: boolean
}

async function findSandbox(tool: string, files: Sandbox['files']): Promise<Sandbox> {
  await access(tool, constants.X_OK).catch((error: Error) => {
    throw new EncodeFailed('crashed', 'the tool cannot be started', error.message)
  })
  const found = {
    unshare: await onPath('unshare'),
    prlimit: await onPath('prlimit'),
    nice: await onPath('nice'),
    setpriv: await onPath('setpriv'),
    test: await onPath('test'),
    env: await onPath('env'),
    perl: await onPath('perl'),
    toolFiles: await filesOf(tool),
  }
  for (const lock of locksFor(process.getuid?.() === 0)) {
    if (lock.files === 'own' && files === 'all') continue
    const sandbox = toSandbox(lock, found)
    if (sandbox && (await works(sandbox, tool, found))) return sandbox
  }
  return toSandbox({ namespaces: [] }, { ...found, setpriv: undefined }) ?? bare
}

/** As root the tool gets a user of its own. Without root, a user namespace takes at least the network away. */
function locksFor(root: boolean): Lock[] {
  const inside = shutIn([{ namespaces: ['--user', '--net'] }, { namespaces: ['--user'] }, { namespaces: [] }])
  if (!root) return inside
  const ownUser = [['--net'], []].flatMap((namespaces) =>
    toolUsers.flatMap((users) => [
      { namespaces, users },
      { namespaces, users, handsOver: true },
    ]),
  )
  return [...shutIn(ownUser), ...inside]
}

/** Rather with the network than with all files. */
function shutIn(locks: readonly Lock[]): Lock[] {
  return [...locks.map((lock): Lock => ({ ...lock, files: 'own' })), ...locks]
}

type Programs = Record<'unshare' | 'prlimit' | 'nice' | 'setpriv' | 'perl', string | undefined> & { toolFiles: readonly string[] }

function toSandbox(lock: Lock, programs: Programs): Sandbox | undefined {
  const { unshare, prlimit, nice, setpriv, perl } = programs
  if (lock.namespaces.length > 0 && unshare === undefined) return undefined
  if ((lock.users || lock.files) && setpriv === undefined) return undefined
  if (lock.files && perl === undefined) return undefined
  return {
    users: lock.users,
    files: lock.files ?? 'all',
    handsOver: lock.handsOver ?? false,
    network: lock.namespaces.includes('--net') ? 'none' : 'open',
    diesWithParent: setpriv !== undefined,
    wrap(tool, args, limits, user) {
      const chain: string[] = []
      if (unshare !== undefined && lock.namespaces.length > 0) chain.push(unshare, ...lock.namespaces, '--')
      if (prlimit !== undefined) chain.push(prlimit, ...limitOptions(limits), '--')
      if (nice !== undefined) chain.push(nice, '-n', String(limits.niceness))
      // A change of user clears the death signal and closes /proc/self until the next program starts: two steps, in this order.
      const death = ['--pdeathsig', 'KILL', '--']
      if (setpriv !== undefined) chain.push(setpriv, ...userOptions(user), '--no-new-privs', '--', setpriv, ...death)
      if (perl !== undefined && lock.files) chain.push(...ownFilesCommand(perl, lock.handsOver ? handedOver : programs.toolFiles))
      const [command = tool, ...rest] = [...chain, tool, ...args]
      return { command, args: rest }
    },
  }
}

const bare: Sandbox = {
  users: undefined,
  files: 'all',
  handsOver: false,
  network: 'open',
  diesWithParent: false,
  wrap: (tool, args) => ({ command: tool, args: [...args] }),
}

/** `--data` counts what a process really may write to; `--as` would also count the address space that allocator arenas only reserve. */
function limitOptions(limits: RunLimits): string[] {
  return [
    `--cpu=${Math.ceil(limits.cpuSeconds)}`,
    `--fsize=${Math.ceil(limits.fileBytes)}`,
    `--data=${Math.ceil(limits.memoryBytes)}`,
    '--core=0',
    '--nofile=1024',
  ]
}

function userOptions(user: number | undefined): string[] {
  return user === undefined ? [] : [`--reuid=${user}`, `--regid=${user}`, '--clear-groups', '--inh-caps=-all']
}

async function onPath(program: string): Promise<string | undefined> {
  for (const folder of toolEnvironment.PATH.split(':')) {
    const path = join(folder, program)
    if (await access(path, constants.X_OK).then(yes, no)) return path
  }
  return undefined
}

const yes = () => true
const no = () => false

/** Asks inside the sandbox whether the tool can be run, and has its libraries, without running it. */
async function works(sandbox: Sandbox, tool: string, { test, env }: Record<'test' | 'env', string | undefined>): Promise<boolean> {
  if (test === undefined || env === undefined) return false
  const ask = (path: string) => (sandbox.files === 'own' ? loadCommand(env, path) : [test, '-x', path])
  const folder = await mkdtemp(join(tmpdir(), 'vitascope-sandbox-'))
  try {
    // Root in a container may be without the right to give a file away, or without these ids.
    if (!(await makeFolderFor(sandbox, folder).then(yes, no))) return false
    const inside = await startInside(
      {
        ...sandbox,
        wrap: (path, _, limits, user) => {
          const [program = path, ...args] = ask(path)
          return sandbox.wrap(program, args, limits, user)
        },
      },
      tool,
      [],
      defaultLimits,
      folder,
    )
    let said = ''
    inside.stdout?.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
    inside.stderr?.resume()
    return await new Promise<boolean>((resolve) => {
      inside.once('error', () => resolve(false))
      inside.once('close', (code) => resolve(code === 0 && !missing.test(said)))
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
