import { type ChildProcess, spawn } from 'node:child_process'
import { access, constants, lchown, lstat, mkdir, mkdtemp, open, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { EncodeFailed } from './media-errors.ts'

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
  /** The user that the tool runs as and that must own what it writes; undefined where it is our own. */
  owner: { uid: number; gid: number } | undefined
  network: 'none' | 'open'
  diesWithParent: boolean
  /** The tool's user cannot reach the tool by its path (a checkout under a private home): it is handed over as an open file. */
  handsOver: boolean
  /** The command that runs `tool` with `args` inside. */
  wrap(tool: string, args: readonly string[], limits: RunLimits): { command: string; args: string[] }
}

/** Starts a tool inside: its folder is `scratch`, its process group its own. Nothing is waited for after its start, so that its caller hears of its end. */
export async function startInside(
  sandbox: Sandbox,
  tool: string,
  args: readonly string[],
  limits: RunLimits,
  scratch: string,
): Promise<ChildProcess> {
  await makeFolderFor(sandbox, scratch)
  const options = { cwd: scratch, env: toolEnvironment, detached: true }
  if (!sandbox.handsOver) {
    const inside = sandbox.wrap(tool, args, limits)
    return givingWay(spawn(inside.command, inside.args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] }), limits)
  }
  // The fourth descriptor is the program itself; a link in the folder gives it its name.
  const name = basename(tool)
  await symlink('/proc/self/fd/3', join(scratch, name)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  const program = await open(tool, 'r')
  try {
    const inside = sandbox.wrap(`./${name}`, args, limits)
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

/** Finds out once per tool what works, from the strongest lock to none; a container or another system may forbid some of it. */
export function sandboxFor(tool: string): Promise<Sandbox> {
  const known = sandboxes.get(tool)
  if (known) return known
  const found = findSandbox(tool)
  sandboxes.set(tool, found)
  found.catch(() => sandboxes.delete(tool))
  return found
}

/** Makes a folder that the locked-up tool can write to. A link in its place, which only a tool gone bad could have left, is not followed. */
export async function makeFolderFor(sandbox: Sandbox, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  if (!(await lstat(folder)).isDirectory()) throw new EncodeFailed('incomplete', 'a link stands where a folder should be')
  if (sandbox.owner) await lchown(folder, sandbox.owner.uid, sandbox.owner.gid)
}

/** All that a tool sees of the environment. Statically linked builds crash on the system's modules for old character sets, so there are none. */
export const toolEnvironment = { PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8', GCONV_PATH: '/nonexistent' }

const sandboxes = new Map<string, Promise<Sandbox>>()
const nobody = { uid: 65_534, gid: 65_534 }

interface Lock {
  namespaces: readonly string[]
  owner?: Sandbox['owner']
  handsOver?: boolean
}

async function findSandbox(tool: string): Promise<Sandbox> {
  await access(tool, constants.X_OK).catch((error: Error) => {
    throw new EncodeFailed('crashed', 'the tool cannot be started', error.message)
  })
  const programs = {
    unshare: await onPath('unshare'),
    prlimit: await onPath('prlimit'),
    nice: await onPath('nice'),
    setpriv: await onPath('setpriv'),
    test: await onPath('test'),
  }
  for (const lock of locksFor(process.getuid?.() === 0)) {
    const sandbox = toSandbox(lock, programs)
    if (sandbox && (await works(sandbox, tool, programs.test))) return sandbox
  }
  return toSandbox({ namespaces: [] }, { ...programs, setpriv: undefined }) ?? bare
}

/** As root the tool gets a user of its own. Without root, a user namespace takes at least the network away. */
function locksFor(root: boolean): Lock[] {
  const locks = [{ namespaces: ['--user', '--net'] }, { namespaces: ['--user'] }, { namespaces: [] }]
  if (!root) return locks
  const ownUser = [['--net'], []].flatMap((namespaces) => [
    { namespaces, owner: nobody },
    { namespaces, owner: nobody, handsOver: true },
  ])
  return [...ownUser, ...locks]
}

type Programs = Record<'unshare' | 'prlimit' | 'nice' | 'setpriv', string | undefined>

function toSandbox(lock: Lock, programs: Programs): Sandbox | undefined {
  const { unshare, prlimit, nice, setpriv } = programs
  if (lock.namespaces.length > 0 && unshare === undefined) return undefined
  if (lock.owner && setpriv === undefined) return undefined
  return {
    owner: lock.owner,
    handsOver: lock.handsOver ?? false,
    network: lock.namespaces.includes('--net') ? 'none' : 'open',
    diesWithParent: setpriv !== undefined,
    wrap(tool, args, limits) {
      const chain: string[] = []
      if (unshare !== undefined && lock.namespaces.length > 0) chain.push(unshare, ...lock.namespaces, '--')
      if (prlimit !== undefined) chain.push(prlimit, ...limitOptions(limits), '--')
      if (nice !== undefined) chain.push(nice, '-n', String(limits.niceness))
      // A change of user clears the death signal and closes /proc/self until the next program starts: two steps, in this order.
      const death = ['--pdeathsig', 'KILL', '--']
      if (setpriv !== undefined) chain.push(setpriv, ...userOptions(lock.owner), '--no-new-privs', '--', setpriv, ...death)
      const [command = tool, ...rest] = [...chain, tool, ...args]
      return { command, args: rest }
    },
  }
}

const bare: Sandbox = {
  owner: undefined,
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

function userOptions(owner: Sandbox['owner']): string[] {
  return owner ? [`--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups', '--inh-caps=-all'] : []
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

/** Asks inside the sandbox whether the tool can be run, without running it. */
async function works(sandbox: Sandbox, tool: string, test: string | undefined): Promise<boolean> {
  if (test === undefined) return false
  const folder = await mkdtemp(join(tmpdir(), 'vitascope-sandbox-'))
  try {
    const inside = await startInside(
      { ...sandbox, wrap: (path, _, limits) => sandbox.wrap(test, ['-x', path], limits) },
      tool,
      [],
      defaultLimits,
      folder,
    )
    return await new Promise<boolean>((resolve) => {
      inside.once('error', () => resolve(false))
      inside.once('exit', (code) => resolve(code === 0))
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
