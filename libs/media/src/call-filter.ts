/**
 * A filter of system calls for a tool (seccomp(2), SECCOMP_MODE_FILTER): classic BPF over `struct
 * seccomp_data` of linux/seccomp.h. It covers kernel interfaces that Landlock and separate users do
 * not restrict, that a decoder does not need, and that most sandbox escapes use.
 */

/**
 * Program that the filter is for: ffmpeg and ffprobe (`tool`), or LibreOffice (`office`). The
 * filter of LibreOffice allows sockets, because its processes communicate over AF_UNIX sockets. In
 * its sandbox there is no other process to connect to.
 */
export type FilterVariant = 'tool' | 'office'

interface Machine {
  /** AUDIT_ARCH_* of linux/audit.h. */
  audit: number
  /** System call number of seccomp(2). */
  seccomp: number
  /** 0x40000000 marks calls of the x32 ABI, which have different numbers. */
  hasX32: boolean
  numbers: (pair: readonly [x64: number, arm64: number]) => number
}

const machines: Partial<Record<NodeJS.Architecture, Machine>> = {
  x64: { audit: 0xc000003e, seccomp: 317, hasX32: true, numbers: ([x64]) => x64 },
  arm64: { audit: 0xc00000b7, seccomp: 277, hasX32: false, numbers: ([, arm64]) => arm64 },
}

/**
 * Numbers from asm/unistd_64.h of x86-64 and asm-generic/unistd.h, which arm64 uses; -1 if the call
 * does not exist.
 */
const denied: readonly (readonly [x64: number, arm64: number])[] = [
  // Namespaces and mounts: unshare, setns, mount, umount2, pivot_root, chroot, open_tree,
  // move_mount, fsopen, fsconfig, fsmount, fspick, mount_setattr.
  ...pairs([272, 97], [308, 268], [165, 40], [166, 39], [155, 41], [161, 51]),
  ...sameNumbers(428, 429, 430, 431, 432, 433, 442),
  // Large kernel subsystems with many vulnerabilities: bpf, perf_event_open, userfaultfd,
  // io_uring_setup, io_uring_enter, io_uring_register.
  ...pairs([321, 280], [298, 241], [323, 282]),
  ...sameNumbers(425, 426, 427),
  // Keys: add_key, request_key, keyctl.
  ...pairs([248, 217], [249, 218], [250, 219]),
  // Other processes: ptrace, process_vm_readv, process_vm_writev, kcmp, pidfd_getfd,
  // process_madvise.
  ...pairs([101, 117], [310, 270], [311, 271], [312, 272]),
  ...sameNumbers(438, 440),
  // Files that refer to other files: symlink, symlinkat, mknod, mknodat, name_to_handle_at,
  // open_by_handle_at.
  ...pairs([88, -1], [266, 36], [133, -1], [259, 33], [303, 264], [304, 265]),
  // All processes of a group are killed together, so processes must not leave it: setsid, setpgid.
  ...pairs([112, 157], [109, 154]),
]

/** socket, socketpair, connect, bind: a tool only reads files. */
const sockets = pairs([41, 198], [53, 199], [42, 203], [49, 200])

const CLONE: readonly [number, number] = [56, 220]
const CLONE3: readonly [number, number] = [435, 435]
/**
 * CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET of linux/sched.h. CLONE_NEWTIME
 * has no bit in the flags of clone(2).
 */
const CLONE_NEW = 0x7e020000

const ALLOW = 0x7fff0000
const KILL_PROCESS = 0x80000000
const ERRNO = 0x00050000
const [EPERM, ENOSYS] = [1, 38]

/**
 * Offsets in `struct seccomp_data`. The low half of an argument comes first on both architectures.
 */
const NUMBER = 0
const ARCH = 4
const ARGUMENT_0 = 16

/**
 * Instructions of linux/bpf_common.h: load a word at an absolute offset; jump if equal, if greater
 * or equal, or if any bit is set; return.
 */
const [LOAD, JUMP_EQUAL, JUMP_FROM, JUMP_BITS, RETURN] = [0x20, 0x15, 0x35, 0x45, 0x06]

export interface CallFilter {
  /** System call number of seccomp(2) on this machine. */
  seccomp: number
  /** `struct sock_filter[]`. */
  program: Buffer
}

/**
 * Returns the filter for this architecture, or undefined if its system call numbers are not listed
 * here.
 */
export function callFilter(variant: FilterVariant, arch: NodeJS.Architecture = process.arch): CallFilter | undefined {
  const machine = machines[arch]
  if (!machine) return undefined
  const { audit, hasX32, numbers } = machine
  const calls = [...denied, ...(variant === 'tool' ? sockets : [])].map(numbers).filter((number) => number >= 0)
  const steps: Step[] = [
    { code: LOAD, value: ARCH },
    // A call of another ABI would be mistaken for one of this ABI.
    { code: JUMP_EQUAL, value: audit, no: 'kill' },
    { code: LOAD, value: NUMBER },
    ...(hasX32 ? [{ code: JUMP_FROM, value: 0x40000000, yes: 'kill' } as const] : []),
    ...calls.map((value) => ({ code: JUMP_EQUAL, value, yes: 'deny' }) as const),
    // The flags of clone3 are in memory, which a filter cannot read. Libraries fall back to clone.
    { code: JUMP_EQUAL, value: numbers(CLONE3), yes: 'unknown' },
    { code: JUMP_EQUAL, value: numbers(CLONE), no: 'allow' },
    { code: LOAD, value: ARGUMENT_0 },
    { code: JUMP_BITS, value: CLONE_NEW, yes: 'deny', no: 'allow' },
  ]
  return { seccomp: machine.seccomp, program: assemble(steps) }
}

type Action = 'allow' | 'deny' | 'unknown' | 'kill'

interface Step {
  code: number
  value: number
  /** Jump target if the condition is true. Default: the next step. */
  yes?: Action
  /** Jump target if the condition is false. Default: the next step. */
  no?: Action
}

const actions: Record<Action, number> = { allow: ALLOW, deny: ERRNO | EPERM, unknown: ERRNO | ENOSYS, kill: KILL_PROCESS }

/**
 * Encodes `struct sock_filter`: code (16 bits), jump offsets if true and if false (8 bits each),
 * value (32 bits). Both architectures are little-endian.
 */
function assemble(steps: readonly Step[]): Buffer {
  const names = Object.keys(actions) as Action[]
  const program = Buffer.alloc(8 * (steps.length + names.length))
  const jump = (end: Action | undefined, from: number) => (end === undefined ? 0 : steps.length + names.indexOf(end) - from - 1)
  const write = (index: number, { code, value, yes, no }: Step) => {
    program.writeUInt16LE(code, index * 8)
    program.writeUInt8(jump(yes, index), index * 8 + 2)
    program.writeUInt8(jump(no, index), index * 8 + 3)
    program.writeUInt32LE(value >>> 0, index * 8 + 4)
  }
  const instructions = [...steps, ...names.map((end): Step => ({ code: RETURN, value: actions[end] }))]
  for (const [index, step] of instructions.entries()) write(index, step)
  return program
}

function pairs(...list: (readonly [number, number])[]): (readonly [number, number])[] {
  return list
}

/**
 * Returns pairs of the same number. Calls added since Linux 5.1 have one number on all
 * architectures.
 */
function sameNumbers(...list: number[]): (readonly [number, number])[] {
  return list.map((number) => [number, number] as const)
}
