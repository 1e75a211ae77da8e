import { access, constants, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lockedRun, type RunLimits, sandboxFor } from '@vitascope/media'

/** Where the run's folder is, for the program inside. */
export const INSIDE = '/office'

/**
 * LibreOffice follows what a file points to: a picture at `file:///…` would be drawn. So, on top of the lock that ffmpeg has, it sees no
 * other files than the system's programs and libraries: a room of mounts of its own, in which its folder is /office. $0 is LibreOffice.
 */
const SCRIPT = `set -e
PATH=$PATH:/usr/sbin:/sbin
mkdir -p room
mount -t tmpfs -o size=64m,mode=755 tmpfs room
mkdir room/office room/usr room/etc room/var room/dev room/tmp
mount --no-canonicalize --bind . room/office
for name in bin sbin lib lib32 lib64; do
  if [ -L "/$name" ]; then cp -P "/$name" "room/$name"
  elif [ -d "/$name" ]; then mkdir "room/$name"; mount --rbind "/$name" "room/$name"; fi
done
mount --rbind /usr room/usr
[ ! -d /opt ] || { mkdir room/opt; mount --rbind /opt room/opt; }
case "$0" in
  /usr/*|/opt/*) ;;
  *) folder=$(dirname "$0"); mkdir -p "room$folder"; mount --bind "$folder" "room$folder" ;;
esac
for path in /etc/libreoffice /etc/fonts /var/lib/libreoffice /var/cache/fontconfig; do
  [ ! -d "$path" ] || { mkdir -p "room$path"; mount --rbind "$path" "room$path"; }
done
for path in /etc/ld.so.cache /dev/null /dev/zero /dev/random /dev/urandom; do
  [ ! -e "$path" ] || { : > "room$path"; mount --bind "$path" "room$path"; }
done
# It has the rights of root in here, with which it could leave: they end with the bounding set.
# Without /proc a program cannot tell where it is, and with it where its libraries are.
LD_LIBRARY_PATH=$(dirname "$0")
export LD_LIBRARY_PATH
exec chroot room /bin/sh -c 'cd ${INSIDE} && exec setpriv --bounding-set=-all --inh-caps=-all -- setpriv --pdeathsig KILL -- "$@"' room "$@"
`

/** Runs a program in the room, with a folder as /office. Throws as `lockedRun` does. */
export async function runInRoom(run: {
  office: string
  /** What is run in it; LibreOffice itself, where nothing is named. */
  program?: string
  args: readonly string[]
  folder: string
  limits: Partial<RunLimits>
  signal?: AbortSignal
}): Promise<void> {
  const { office, program = office, args, folder, limits, signal } = run
  await lockedRun({
    tool: await findUnshare(),
    args: ['--user', '--map-root-user', '--mount', '--', '/bin/sh', '-c', SCRIPT, office, program, ...args],
    scratch: folder,
    files: 'all',
    limits,
    signal,
  })
}

/** Why LibreOffice must not be run on this machine; undefined when it can be locked up as it should be. */
export async function whyNoRoom(office: string): Promise<string | undefined> {
  const unshare = await findUnshare().catch(() => undefined)
  if (unshare === undefined) return 'there is no unshare of util-linux'
  if ((await sandboxFor(unshare, 'all')).network !== 'none') return 'it cannot be kept from the network'
  const folder = await mkdtemp(join(tmpdir(), 'vitascope-office-'))
  try {
    // The program is there in the room, and can be run.
    await runInRoom({ office, program: '/bin/sh', args: ['-c', 'test -x "$0"', office], folder, limits: { wallSeconds: 30 } })
    return undefined
  } catch (error) {
    return `it cannot be kept from the files of this machine (${(error as Error).message})`
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function findUnshare(): Promise<string> {
  for (const path of ['/usr/bin/unshare', '/bin/unshare']) {
    const isThere = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (isThere) return path
  }
  throw new Error('there is no unshare')
}
