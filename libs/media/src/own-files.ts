import { realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/**
 * Shuts a program in with its folder, by Landlock, which needs neither root nor namespaces: it can open nothing but the folder that it is started
 * in, itself, the system's programs and libraries; it can neither look into other processes nor, from Linux 6.12 on, signal them; from 6.7 on it has no
 * TCP. Node cannot make these calls, and Perl is on every Debian and Ubuntu; the numbers of the calls are the same on all processors.
 *
 * Arguments: how many paths there are of the tool, these, the command. Exits with 126 where the kernel does not know Landlock.
 */
const SCRIPT = `
sub give { my ($set, $rights, $path) = @_;
  sysopen(my $at, $path, 0x200000) or return;
  $rights &= 0x8007 | 0x4000 unless -d $at;
  my $rule = pack("Ql", $rights & $all, fileno($at));
  syscall(445, $set, 1, $rule, 0) == 0 or exit 126 }
my $abi = syscall(444, 0, 0, 1);
exit 126 if $abi < 1;
$all = 0x1fff | ($abi > 1 ? 0x2000 : 0) | ($abi > 2 ? 0x4000 : 0) | ($abi > 4 ? 0x8000 : 0);
my $what = pack("QQQ", $all, 3, 3);
my $set = syscall(444, $what, $abi < 4 ? 8 : $abi < 6 ? 16 : 24, 0);
exit 126 if $set < 0;
my @tool = splice(@ARGV, 0, shift);
give($set, 0xd, $_) for @tool, qw(/usr /bin /sbin /lib /lib32 /lib64 /libx32 /nix/store /gnu/store);
give($set, 0xc, $_) for qw(/etc/ld.so.cache /etc/alternatives /etc/localtime /etc/ssl/openssl.cnf /etc/pki/tls/openssl.cnf /etc/crypto-policies
  /proc/self /proc/cpuinfo /proc/meminfo /sys/devices/system);
give($set, 0x6, $_) for qw(/dev/null /dev/zero /dev/full /dev/random /dev/urandom);
give($set, 0x57be, ".");
syscall(446, $set, 0) == 0 or exit 126;
exec { $ARGV[0] } @ARGV;
exit 126`

/** What stands in front of a command for it to be shut in so. */
export function ownFilesCommand(perl: string, toolFiles: readonly string[]): string[] {
  return [perl, '-e', SCRIPT, '--', String(toolFiles.length), ...toolFiles]
}

/** The tool, and its libraries where it was put with them: never the whole folder that it lies in, which may be somebody's home. */
export async function filesOf(tool: string): Promise<string[]> {
  const real = await realpath(tool)
  const folder = dirname(real)
  const beside = basename(folder) === 'bin' ? ['lib', 'lib64'].map((name) => join(folder, '..', name)) : []
  return [real, ...beside]
}

/**
 * A command that starts nothing: the loader of libraries lists what the tool needs (what is linked statically tells its version). A tool that works
 * says nothing of `missing`.
 */
export function loadCommand(env: string, tool: string): string[] {
  return [env, 'LD_TRACE_LOADED_OBJECTS=1', tool, '-version']
}
export const missing = /not found/

/** The open file by which a tool is handed over. */
export const handedOver = ['/proc/self/fd/3']
