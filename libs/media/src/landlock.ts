import { realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { CallFilter } from './call-filter.ts'

// Perl scripts that a process runs before it executes the tool. Node cannot make these system
// calls, and Perl is part of every Debian and Ubuntu. Each part removes its arguments from the
// front of the list and exits with 126 if the kernel does not support the call.

/**
 * Restricts a program to its folder with Landlock, which needs neither root nor namespaces. The
 * program can read only the folder it starts in, its own files, and the system's programs and
 * libraries. In its writable folders it can create, write, rename and remove plain files only. It
 * can create no symbolic link, FIFO, socket or folder, and no hard link to a file of another
 * folder, because a later reader could follow or block on one. It cannot inspect other processes;
 * from Linux 6.12 on it cannot signal them; from 6.7 on it has no TCP. The system call numbers are
 * the same on all architectures.
 *
 * Arguments: number of paths of the tool, these paths, number of writable folders, these folders.
 */
const RESTRICT_FILES = `
sub allow { my ($set, $rights, $path) = @_;
  sysopen(my $at, $path, 0x200000) or return;
  $rights &= 0x8007 | 0x4000 unless -d $at;
  my $rule = pack("Ql", $rights & $all, fileno($at));
  syscall(445, $set, 1, $rule, 0) == 0 or exit 126 }
my $abi = syscall(444, 0, 0, 1);
exit 126 if $abi < 1;
$all = 0x1fff | ($abi > 1 ? 0x2000 : 0) | ($abi > 2 ? 0x4000 : 0) | ($abi > 4 ? 0x8000 : 0);
my $attributes = pack("QQQ", $all, 3, 3);
my $set = syscall(444, $attributes, $abi < 4 ? 8 : $abi < 6 ? 16 : 24, 0);
exit 126 if $set < 0;
my @tool = splice(@ARGV, 0, shift);
my @writes = splice(@ARGV, 0, shift);
allow($set, 0xd, $_) for @tool, qw(/usr /bin /sbin /lib /lib32 /lib64 /libx32 /nix/store /gnu/store);
allow($set, 0xc, $_) for qw(/etc/ld.so.cache /etc/alternatives /etc/localtime /etc/ssl/openssl.cnf /etc/pki/tls/openssl.cnf /etc/crypto-policies
  /proc/self /proc/cpuinfo /proc/meminfo /sys/devices/system);
allow($set, 0x6, $_) for qw(/dev/null /dev/zero /dev/full /dev/random /dev/urandom);
allow($set, 0xc, ".");
allow($set, 0x412e, $_) for @writes;
syscall(446, $set, 0) == 0 or exit 126;`

/**
 * Installs a system call filter. Arguments: the number of seccomp(2), the program in hex.
 * SECCOMP_SET_MODE_FILTER is 1; `struct sock_fprog` is a count and a pointer.
 */
const INSTALL_FILTER = `
my $seccomp = 0 + shift;
my $program = pack("H*", shift);
my $fprog = pack("S x6 P", length($program) / 8, $program);
syscall($seccomp, 1, 0, $fprog) == 0 or exit 126;`

/**
 * Script of the first process of a PID namespace: the kernel kills all others when it ends. The
 * tool is its child, since the first process ignores fatal signals. It must come before the other
 * parts, since a Landlock rule for /proc/self applies to one process. Exits with the tool's code,
 * or with 128 plus the number of its signal.
 */
const FIRST_PROCESS = `
my $tool = fork;
exit 126 unless defined $tool;
if ($tool) {
  while ((my $ended = wait) > 0) { exit($? & 127 ? 128 + ($? & 127) : $? >> 8) if $ended == $tool }
  exit 126;
}`

const EXEC_TOOL = `
exec { $ARGV[0] } @ARGV;
exit 126`

export interface Restrictions {
  /**
   * Paths for Landlock: the files of the tool and its writable folders. Undefined if files are not
   * restricted.
   */
  ownFiles?: { toolFiles: readonly string[]; writes: readonly string[] } | undefined
  /** System call filter. Undefined if calls are not restricted. */
  filter?: CallFilter | undefined
  /** True for the first process of a PID namespace. */
  isFirst?: boolean
}

/** Returns the command prefix that applies these restrictions; empty if there are none. */
export function restrictedCommand(perl: string, { ownFiles, filter, isFirst = false }: Restrictions): string[] {
  const script = [isFirst ? FIRST_PROCESS : '', ownFiles ? RESTRICT_FILES : '', filter ? INSTALL_FILTER : ''].join('')
  if (script === '') return []
  const lists = ownFiles ? [ownFiles.toolFiles, ownFiles.writes] : []
  return [
    ...[perl, '-e', script + EXEC_TOOL, '--'],
    ...lists.flatMap((list) => [String(list.length), ...list]),
    ...(filter ? [String(filter.seccomp), filter.program.toString('hex')] : []),
  ]
}

/** Returns a command that prints the Landlock ABI version, or -1. */
export function landlockCommand(perl: string): string[] {
  return [perl, '-e', 'print syscall(444, 0, 0, 1)']
}

/**
 * Returns the paths of the tool and of the libraries that were installed with it. It never returns
 * its folder, which may be a home directory.
 */
export async function findToolFiles(tool: string): Promise<string[]> {
  const real = await realpath(tool)
  const folder = dirname(real)
  const libraries = basename(folder) === 'bin' ? ['lib', 'lib64'].map((name) => join(folder, '..', name)) : []
  return [real, ...libraries]
}

/**
 * Returns a command that runs no tool code: the dynamic loader lists the libraries of the tool (a
 * static binary prints its version). The output of a working tool does not match `MISSING_LIBRARY`.
 */
export function loadCommand(env: string, tool: string): string[] {
  return [env, 'LD_TRACE_LOADED_OBJECTS=1', tool, '-version']
}
export const MISSING_LIBRARY = /not found/

/** Files of a tool that is passed as the open file descriptor 3. */
export const passedToolPath = ['/proc/self/fd/3']
