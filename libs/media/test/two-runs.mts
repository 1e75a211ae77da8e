// Runs as a process of its own, as root or as an ordinary user, beside copies of the modules of the lock: `two-runs.mts FOLDER FILES`. A first run
// holds work of another job; a second one tries to reach it, and the secrets of this process. Prints what the second one says, as JSON.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const [folder = '', files = ''] = process.argv.slice(2)
const modules = (name: string) => new URL(name, import.meta.url).href
const { lockedRun } = (await import(modules('./locked-run.ts'))) as typeof import('../src/locked-run.ts')
const { sandboxFor } = (await import(modules('./sandbox.ts'))) as typeof import('../src/sandbox.ts')
const lock = files === 'all' ? 'all' : 'own'

const FIRST = 'echo work > work; echo $$; exec sleep 300'

/** Each place, how it could be reached, and nothing else: what does not work says nothing. */
const SECOND = `
first=$1 service=$2 house=$3 scratch=$4
reads() { [[ -z $(cat "$2" 2>/dev/null | tr -d '\\0') ]] || echo "reads $1"; }
writes() { { echo lost >> "$2"; } 2>/dev/null && echo "writes $1"; }
lists() { [[ -z $(ls -A "$2" 2>/dev/null) ]] || echo "lists $1"; }
for way in "$scratch" "/proc/$first/cwd" "/proc/$first/root$scratch" ; do
  reads "the work by $way" "$way/work"; writes "the work by $way" "$way/work"; writes "beside the work by $way" "$way/more"; lists "the work by $way" "$way"
done
for other in "$first" "$service" 1; do
  for what in environ mem maps; do reads "$what of $other" "/proc/$other/$what"; done
  lists "what $other has open" "/proc/$other/fd"; writes "the memory of $other" "/proc/$other/mem"
done
for secret in secrets/master-key storage/object; do
  for way in "$house" "/proc/self/root$house" "/proc/$service/root$house" "/proc/$service/cwd"; do
    reads "$secret by $way" "$way/$secret"; writes "$secret by $way" "$way/$secret"
  done
done
writes "into the house" "$house/storage/new"
ln -s "$house" link && reads "through a link" link/secrets/master-key
ln "$house/storage/object" second 2>/dev/null && echo "links an object"
mkdir folder && echo mine > folder/own && mv folder/own folder/renamed && cat folder/renamed
`

await Promise.all(['secrets', 'storage', 'scratch'].map((name) => mkdir(join(folder, name), { recursive: true, mode: 0o700 })))
await writeFile(join(folder, 'secrets/master-key'), 'secret\n', { mode: 0o600 })
await writeFile(join(folder, 'storage/object'), 'another video\n', { mode: 0o644 })
process.chdir(folder)

const controller = new AbortController()
const scratch = join(folder, 'scratch/first')
const first = new Promise<number>((resolve, reject) => {
  lockedRun({
    tool: '/bin/bash',
    args: ['-c', FIRST],
    scratch,
    files: lock,
    limits: { stallSeconds: 300 },
    onLine: (line) => {
      resolve(Number(line))
      return true
    },
    signal: controller.signal,
  }).catch(reject)
})
const said: string[] = []
const args = ['-c', SECOND, 'second', String(await first), String(process.pid), folder, scratch]
const second = join(folder, 'scratch/second')
await lockedRun({
  tool: '/bin/bash',
  args,
  scratch: second,
  files: lock,
  limits: { stallSeconds: 300 },
  onLine: (line) => said.push(line) > 0,
})
controller.abort()
const left = await readFile(join(second, 'folder/renamed'), 'utf8')
const sandbox = await sandboxFor('/bin/bash', lock)
process.stdout.write(JSON.stringify({ files: sandbox.files, ownUser: sandbox.users !== undefined, said, left }))
