import { access, constants, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { officeFilterCommand, type RunLimits, runSandboxed, sandboxFor } from '@vitascope/media'

/** The run's folder inside the sandbox. */
export const SANDBOX_FOLDER = '/office'

/**
 * Shell script that builds the sandbox. LibreOffice follows references in a file: an image at
 * `file:///…` would be rendered. In addition to ffmpeg's sandbox, LibreOffice therefore runs in a
 * mount namespace that contains only the system's programs and libraries, and the folder of the run
 * as /office. $0 is the path of LibreOffice. Building the namespace needs system calls that
 * LibreOffice must not use, so the seccomp filter is applied last. LibreOffice needs AF_UNIX
 * sockets, which connect to nothing without network and files.
 */
const SCRIPT = `set -e
PATH=$PATH:/usr/sbin:/sbin
mkdir -p rootfs
mount -t tmpfs -o size=64m,mode=755 tmpfs rootfs
mkdir rootfs/office rootfs/usr rootfs/etc rootfs/var rootfs/dev rootfs/tmp
mount --no-canonicalize --bind . rootfs/office
for name in bin sbin lib lib32 lib64; do
  if [ -L "/$name" ]; then cp -P "/$name" "rootfs/$name"
  elif [ -d "/$name" ]; then mkdir "rootfs/$name"; mount --rbind "/$name" "rootfs/$name"; fi
done
mount --rbind /usr rootfs/usr
[ ! -d /opt ] || { mkdir rootfs/opt; mount --rbind /opt rootfs/opt; }
case "$0" in
  /usr/*|/opt/*) ;;
  *) folder=$(dirname "$0"); mkdir -p "rootfs$folder"; mount --bind "$folder" "rootfs$folder" ;;
esac
for path in /etc/libreoffice /etc/fonts /var/lib/libreoffice /var/cache/fontconfig; do
  [ ! -d "$path" ] || { mkdir -p "rootfs$path"; mount --rbind "$path" "rootfs$path"; }
done
for path in /etc/ld.so.cache /dev/null /dev/zero /dev/random /dev/urandom; do
  [ ! -e "$path" ] || { : > "rootfs$path"; mount --bind "$path" "rootfs$path"; }
done
# Root capabilities would allow an escape, so setpriv drops them from the bounding set.
# Without /proc a program cannot determine its own path, and thus the path of its libraries.
LD_LIBRARY_PATH=$(dirname "$0")
export LD_LIBRARY_PATH
exec chroot rootfs /bin/sh -c 'cd ${SANDBOX_FOLDER} && exec setpriv --bounding-set=-all --inh-caps=-all -- setpriv --pdeathsig KILL -- "$@"' rootfs "$@"
`

/** Runs a program in the sandbox, with a folder as /office. Throws as `runSandboxed` does. */
export async function runLibreOffice(run: {
  office: string
  /** Program to run. The default is LibreOffice. */
  program?: string
  args: readonly string[]
  folder: string
  limits: Partial<RunLimits>
  signal?: AbortSignal
}): Promise<void> {
  const { office, program = office, args, folder, limits, signal } = run
  await runSandboxed({
    tool: await findUnshare(),
    args: [
      '--user',
      '--map-root-user',
      '--mount',
      '--',
      '/bin/sh',
      '-c',
      SCRIPT,
      office,
      ...(await officeFilterCommand()),
      program,
      ...args,
    ],
    scratch: folder,
    writes: ['.'],
    files: 'all',
    limits,
    signal,
  })
}

/** Returns why LibreOffice must not run on this machine, or undefined if the sandbox works. */
export async function findSandboxProblem(office: string): Promise<string | undefined> {
  const unshare = await findUnshare().catch(() => undefined)
  if (unshare === undefined) return 'unshare of util-linux is not installed'
  if ((await sandboxFor(unshare, 'all')).network !== 'none') return 'it cannot be isolated from the network'
  const folder = await mkdtemp(join(tmpdir(), 'vitascope-office-'))
  try {
    // Checks that the binary exists in the sandbox and can be executed.
    await runLibreOffice({ office, program: '/bin/sh', args: ['-c', 'test -x "$0"', office], folder, limits: { wallSeconds: 30 } })
    return undefined
  } catch (error) {
    return `it cannot be isolated from the files of this machine (${(error as Error).message})`
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function findUnshare(): Promise<string> {
  for (const path of ['/usr/bin/unshare', '/bin/unshare']) {
    const isExecutable = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (isExecutable) return path
  }
  throw new Error('unshare is not installed')
}
