// `two-runs.mts FOLDER FILES` runs as a separate process, as root or as an ordinary user, from a
// folder with copies of the sandbox modules. A first sandboxed run has the work of another job. A
// second run tries to access this work and the secrets of this process. The program prints the
// result of the second run as JSON.
import { mkdir, readdir, readFile, readlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

const [folder = '', files = ''] = process.argv.slice(2)
const modules = (name: string) => new URL(name, import.meta.url).href
const { runSandboxed } = (await import(modules('./sandboxed-process.ts'))) as typeof import('../src/sandboxed-process.ts')
const { sandboxFor } = (await import(modules('./sandbox.ts'))) as typeof import('../src/sandbox.ts')
const fileAccess = files === 'all' ? 'all' : 'own'

/**
 * Script that prints its process id. The id in its own PID namespace is not valid elsewhere, so it
 * is read from /proc, which contains the id on the host.
 */
const FIRST = 'echo work > work; read -r id _ < /proc/self/stat; echo $id; exec sleep 300'

/** Script that prints each successful access. Failed attempts print nothing. */
const SECOND = `
first=$1 service=$2 home=$3 scratch=$4 files=$5
reads() { [[ -z $(cat "$2" 2>/dev/null | tr -d '\\0') ]] || echo "reads $1"; }
writes() { { echo lost >> "$2"; } 2>/dev/null && echo "writes $1"; }
lists() { [[ -z $(ls -A "$2" 2>/dev/null) ]] || echo "lists $1"; }
for way in "$scratch" "/proc/$first/cwd" "/proc/$first/root$scratch" ; do
  reads "the work by $way" "$way/work"; writes "the work by $way" "$way/work"; writes "next to the work by $way" "$way/more"; lists "the work by $way" "$way"
done
for other in "$first" "$service" 1; do
  for what in environ mem maps; do reads "$what of $other" "/proc/$other/$what"; done
  lists "what $other has open" "/proc/$other/fd"; writes "the memory of $other" "/proc/$other/mem"
done
for secret in secrets/master-key storage/object; do
  for way in "$home" "/proc/self/root$home" "/proc/$service/root$home" "/proc/$service/cwd"; do
    reads "$secret by $way" "$way/$secret"; writes "$secret by $way" "$way/$secret"
  done
done
writes "into the home folder" "$home/storage/new"
ln -s "$home" own/link 2>/dev/null && reads "through a link" own/link/secrets/master-key
ln "$home/storage/object" own/second 2>/dev/null && echo "links an object"
writes "next to its own folder" next
if [[ $files == own ]]; then
  ln -s "$home" own/link && echo "creates a symbolic link"
  /usr/bin/mkfifo own/fifo && echo "creates a FIFO"
  mkdir own/folder && echo "creates a folder"
  mv own gone && echo "replaces its folder"
  ln own/file own/second && mv own/second second && echo "moves a hard link to another folder"
fi 2>/dev/null
(setsid sleep 30 &) > /dev/null 2>&1
setsid sleep 30 > /dev/null 2>&1 &
echo mine > own/file && mv own/file own/renamed && cat own/renamed
`

await Promise.all(['secrets', 'storage', 'scratch'].map((name) => mkdir(join(folder, name), { recursive: true, mode: 0o700 })))
await writeFile(join(folder, 'secrets/master-key'), 'secret\n', { mode: 0o600 })
await writeFile(join(folder, 'storage/object'), 'another video\n', { mode: 0o644 })
process.chdir(folder)

const controller = new AbortController()
const scratch = join(folder, 'scratch/first')
const first = new Promise<number>((resolve, reject) => {
  runSandboxed({
    tool: '/bin/bash',
    args: ['-c', FIRST],
    scratch,
    writes: ['.'],
    files: fileAccess,
    limits: { stallSeconds: 300 },
    onLine: (line) => {
      resolve(Number(line))
      return true
    },
    signal: controller.signal,
  }).catch(reject)
})
const accesses: string[] = []
const sandbox = await sandboxFor('/bin/bash', fileAccess)
const args = ['-c', SECOND, 'second', String(await first), String(process.pid), folder, scratch, sandbox.files]
const second = join(folder, 'scratch/second')
await runSandboxed({
  tool: '/bin/bash',
  args,
  scratch: second,
  writes: ['own'],
  files: fileAccess,
  limits: { stallSeconds: 300 },
  onLine: (line) => accesses.push(line) > 0,
})
controller.abort()
const finalText = await readFile(join(second, 'own/renamed'), 'utf8')
const { files: actual, users, endsBy, calls } = sandbox
process.stdout.write(
  JSON.stringify({
    files: actual,
    ownUser: users !== undefined,
    endsBy,
    calls,
    accesses,
    finalText,
    remainingProcesses: await countRemainingProcesses(),
  }),
)

/**
 * Returns the number of processes whose working directory is the folder of the run. A killed process can exist for a
 * moment, so it waits up to 5 s for their end.
 */
async function countRemainingProcesses(): Promise<number> {
  const deadline = Date.now() + 5_000
  for (;;) {
    const count = await countProcesses()
    if (count === 0 || Date.now() > deadline) return count
    await delay(50)
  }
}

async function countProcesses(): Promise<number> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const folders = await Promise.all(ids.map((id) => readlink(`/proc/${id}/cwd`).catch(() => '')))
  return folders.filter((path) => path === second).length
}
