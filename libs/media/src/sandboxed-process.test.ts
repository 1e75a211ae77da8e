// Faults: S8, S13, R4, C7
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, readdir, readlink, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { getPriority } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import { type MediaFixture, openMediaFixture } from '../test/media-fixtures.ts'
import { progressLines } from './progress.ts'
import { defaultLimits, sandboxFor } from './sandbox.ts'
import { runSandboxed, type SandboxedRun } from './sandboxed-process.ts'
import { linkSource, sourceName } from './scratch.ts'
import { toolUserRanges } from './tool-user.ts'

let fixture: MediaFixture

beforeAll(async () => {
  fixture = await openMediaFixture()
})
afterAll(() => fixture.close())

async function runFake(name: string, body: string, more: Partial<SandboxedRun> = {}) {
  const { ffmpeg } = await fixture.fake(name, body)
  return runSandboxed({ tool: ffmpeg, args: [], scratch: fixture.scratch(name), writes: ['.'], onLine: progressLines(() => {}), ...more })
}

/** Runs a bash script in the sandbox and returns its output lines. */
async function output(name: string, body: string): Promise<string[]> {
  const lines: string[] = []
  await runFake(name, body, { onLine: (line) => lines.push(line) > 0 })
  return lines
}

/**
 * Returns the number of processes whose working directory is this folder: all processes that a run
 * started.
 */
async function processesIn(folder: string): Promise<number> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const folders = await Promise.all(ids.map((id) => readlink(`/proc/${id}/cwd`).catch(() => '')))
  return folders.filter((path) => path === folder).length
}

describe('a failed run reports its kind', () => {
  test.each([
    ['hangs silently', 'sleep 60', { stallSeconds: 1 }, 'stalled'],
    [
      'reports without progress',
      'while true; do printf "frame=1\\nout_time_us=40000\\nprogress=continue\\n"; sleep 0.1; done',
      { stallSeconds: 1 },
      'stalled',
    ],
    [
      'makes progress for too long',
      'for ((i=1;;i++)); do printf "frame=$i\\nprogress=continue\\n"; sleep 0.1; done',
      { wallSeconds: 1 },
      'timeout',
    ],
    ['is ended by SIGSEGV', 'kill -SEGV $$', {}, 'crashed'],
    ['is killed', 'kill -KILL $$', {}, 'crashed'],
    ['exits with 137', 'exit 137', {}, 'crashed'],
    ['cannot allocate memory', 'echo "Cannot allocate memory" >&2; exit 1', {}, 'out_of_memory'],
    ['writes without limit', 'head -c 3000000 /dev/zero > big || exit $?; exit 0', { fileBytes: 1_000_000 }, /output_too_large|crashed/],
    ['exceeds its processor time', 'while true; do :; done', { cpuSeconds: 1 }, 'timeout'],
  ])('a tool that %s', async (name, body, limits, kind) => {
    const failed = await runFake(name.replace(/\W/g, '-'), body, { limits }).catch((error: unknown) => error)
    expect(failed).toMatchObject({ name: 'EncodeError', kind: typeof kind === 'string' ? kind : expect.stringMatching(kind) })
  })

  test('a tool that does not exist', async () => {
    await expect(runSandboxed({ tool: '/nowhere/ffmpeg', args: [], scratch: fixture.scratch('none') })).rejects.toMatchObject({
      kind: 'crashed',
    })
  })

  test('a tool that was removed after its first run, which is not a fault of the source', async () => {
    const { ffmpeg } = await fixture.fake('removed', 'exit 0')
    const run = { tool: ffmpeg, args: [], scratch: fixture.scratch('removed') }
    await runSandboxed(run)
    await rm(ffmpeg)
    await expect(runSandboxed(run)).rejects.toMatchObject({ kind: 'crashed', message: 'the tool cannot be started' })
  })

  test('ffmpeg above its memory limit and above its file size limit', async () => {
    const scratch = fixture.scratch('limits')
    const run = (args: string[], limits: SandboxedRun['limits']) =>
      runSandboxed({ tool: fixture.tools.ffmpeg, args, scratch, writes: ['.'], limits })
    const source = await fixture.make('large.mp4', '-f lavfi -i color=s=7680x4320:r=1:d=1 -c:v libx264 -preset ultrafast')
    await linkSource(source, scratch, await sandboxFor(fixture.tools.ffmpeg))
    const large = ['-nostdin', '-v', 'error', '-i', sourceName, '-f', 'null', '-']
    await expect(run(large, { memoryBytes: 120 * 2 ** 20, stallSeconds: 30 })).rejects.toMatchObject({ kind: 'out_of_memory' })
    const noise = ['-v', 'error', '-f', 'lavfi', '-i', 'testsrc=s=640x360', '-t', '2', '-f', 'rawvideo', 'out.yuv']
    await expect(run(noise, { fileBytes: 100_000 })).rejects.toMatchObject({ kind: 'output_too_large' })
  })
})

test('processes that a tool leaves running end with the run, and the error contains the end of the output', async () => {
  const { ffmpeg } = await fixture.fake(
    'family',
    'sleep 60 & sleep 60 & for i in {1..5000}; do echo "word $i" >&2; done; echo last >&2; wait',
  )
  const scratch = fixture.scratch('family')
  const failed = await runSandboxed({ tool: ffmpeg, args: [], scratch, limits: { stallSeconds: 3 } }).catch((error: unknown) => error)
  expect(failed).toMatchObject({ kind: 'stalled', detail: expect.stringMatching(/word 5000\nlast\n$/) })
  expect((failed as { detail: string }).detail.length).toBeLessThanOrEqual(16_384)
  await waitFor(async () => (await processesIn(scratch)) === 0, { timeout: 2_000, describe: 'all processes to end' })
})

test('processor time is counted, including that of child processes', async () => {
  const { ffmpeg } = await fixture.fake(
    'busy',
    'for ((i = 0; i < 400000; i++)); do :; done; bash -c "for ((i = 0; i < 400000; i++)); do :; done"; sleep 1.1',
  )
  const { cpuSeconds } = await runSandboxed({ tool: ffmpeg, args: [], scratch: fixture.scratch('busy') })
  expect(cpuSeconds).toBeGreaterThan(0.2)
  expect(cpuSeconds).toBeLessThan(60)
})

test('processes outside the process group end with the run, and do not delay its end', async () => {
  const scratch = fixture.scratch('survivors')
  const { ffmpeg } = await fixture.fake(
    'survivors',
    'setsid sleep 300 & (setsid sleep 300 &); (trap "" HUP TERM; exec sleep 300) & sleep 0.2; exit 0',
  )
  await runSandboxed({ tool: ffmpeg, args: [], scratch })
  await waitFor(async () => (await processesIn(scratch)) === 0, { timeout: 2_000, describe: 'all processes to end' })
})

test('the number of processes is limited', async () => {
  const { processLimit } = await sandboxFor('/bin/bash')
  if (processLimit.kind !== 'own') return
  const fork = '$n++ while defined($p = fork) and ($p or sleep 60); print "$n\\n"'
  const [started] = await output('bomb', `perl -e '${fork}'`)
  expect(Number(started)).toBeGreaterThan(100)
  expect(Number(started)).toBeLessThan(processLimit.processes)
})

const calls: [string, string][] = [
  ['a connection to the socket of a service', 'socket($s, 1, 1, 0) && connect($s, pack("S a108", 1, "socket"))'],
  ['a socket pair', 'socketpair($s, $t, 1, 1, 0)'],
  ['a network socket', 'socket($s, 2, 1, 0)'],
  ['a new user namespace', `syscall(${nativeNumber(272, 97)}, 0x10000000) == 0`],
  ['a new process in a new user namespace', `syscall(${nativeNumber(56, 220)}, 0x10000011, 0, 0, 0, 0) >= 0`],
  ['io_uring', 'syscall(425, 1, $zeros) >= 0'],
  ['bpf', `syscall(${nativeNumber(321, 280)}, 0, $zeros, 64) >= 0 or $!{EINVAL} or $!{E2BIG}`],
  ['perf', `syscall(${nativeNumber(298, 241)}, $zeros, 0, -1, -1, 0) >= 0 or $!{EINVAL} or $!{E2BIG}`],
  ['a keyring', `syscall(${nativeNumber(250, 219)}, 0, -3, 1) >= 0`],
  ['ptrace', `syscall(${nativeNumber(101, 117)}, 0, 0, 0, 0) == 0`],
  ['a mount', `syscall(${nativeNumber(165, 40)}, $name, $name, $name, 0, 0) == 0 or $!{ENOENT} or $!{ENODEV}`],
  ['a symbolic link', 'symlink("/etc", "link")'],
  ['a new session', `syscall(${nativeNumber(112, 157)}) >= 0`],
]

describe('a system call that a decoder does not need', () => {
  test.each(calls)('%s is denied', async (_, call) => {
    const { calls: filtered } = await sandboxFor('/bin/bash')
    if (filtered === 'all') return
    const server = createServer()
    const socket = join(fixture.folder, 'socket')
    await new Promise<void>((resolve) => server.listen(socket, resolve))
    try {
      // Only a process that does not lead a group can create a session, so this uses a child.
      const script = `$zeros = "\\0" x 128; $name = "x"; $p = fork; if (!$p) { print((${call.replace('"socket"', `"${socket}"`)}) ? "allowed" : "denied", "\\n"); exit } wait`
      expect(await output(`call-${callCount++}`, `perl -e '${script}'`)).toEqual(['denied'])
    } finally {
      await new Promise((resolve) => server.close(resolve))
    }
  })
})
let callCount = 0

function nativeNumber(x64: number, arm64: number): number {
  return process.arch === 'arm64' ? arm64 : x64
}

test('the signal aborts a run before and after its start', async () => {
  await expect(runFake('before', 'exit 0', { signal: AbortSignal.abort() })).rejects.toMatchObject({ kind: 'aborted' })
  const controller = new AbortController()
  const onLine = () => {
    controller.abort()
    return true
  }
  await expect(runFake('during', 'echo started; sleep 60', { signal: controller.signal, onLine })).rejects.toMatchObject({
    kind: 'aborted',
  })
})

test('an exception of the line handler ends the run and is rethrown', async () => {
  const onLine = () => {
    throw new RangeError('no such frame')
  }
  await expect(runFake('reader', 'echo started; sleep 60', { onLine })).rejects.toThrow(RangeError)
})

test("a tool has none of the service's environment, no network, no capabilities, another user and a lower priority", async () => {
  process.env['VITASCOPE_TEST_SECRET'] = 'must not be seen'
  const environment = await output('environment', '/usr/bin/env')
  delete process.env['VITASCOPE_TEST_SECRET']
  expect(environment.map((line) => line.split('=')[0]).sort()).toEqual(['GCONV_PATH', 'LANG', 'PATH', 'PWD', 'SHLVL', '_'])
  // Bash reads these files itself: a tool can read only its own process in /proc.
  const rights = 'while read -r line; do case $line in CapEff*|NoNewPrivs*) echo "$line";; esac; done < /proc/self/status'
  const [user = '', ...rest] = await output('user', `id -u; ${rights}; nice`)
  expect(isToolUser(user)).toBe(true)
  expect(rest).toEqual(['CapEff:\t0000000000000000', 'NoNewPrivs:\t1', String(Math.min(19, getPriority() + defaultLimits.niceness))])
  const isGrouped = existsSync('/proc/self/autogroup')
  const group =
    'for try in $(seq 100); do read -r _ word value < /proc/self/autogroup; ((value > 0)) && echo $word $value && exit; sleep 0.1; done; echo not grouped'
  expect(await output('group', isGrouped ? group : 'echo not grouped')).toEqual([
    isGrouped ? `nice ${defaultLimits.niceness}` : 'not grouped',
  ])
  const devices = 'while IFS=: read -r name rest; do [[ -z $rest ]] || echo $name; done < /proc/self/net/dev'
  expect(await output('network', devices)).toEqual(['lo'])

  let connections = 0
  const server = createServer((socket) => {
    connections++
    socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  expect(await output('dial', `(exec 3<>/dev/tcp/127.0.0.1/${port}) 2>/dev/null && echo connected || echo refused`)).toEqual(['refused'])
  expect(connections).toBe(0)
  await new Promise((resolve) => server.close(resolve))
})

test('a tool ends with its parent and cannot read a file of root', async () => {
  const sandbox = await sandboxFor(fixture.tools.ffmpeg)
  expect(sandbox.diesWithParent).toBe(true)
  expect(await output('shadow', 'cat /etc/shadow 2>/dev/null | head -c 1; echo end')).toEqual(['end'])
})

test('a tool in a private folder that its user cannot enter still runs as that user', async () => {
  const { ffmpeg } = await fixture.fake('private', 'echo "$(id -u) $(basename $0)"; cat $(dirname $0)/nothing 2>/dev/null; ls -d ..; true')
  await chmod(dirname(ffmpeg), 0o700)
  const lines: string[] = []
  await runSandboxed({ tool: ffmpeg, args: [], scratch: join(dirname(ffmpeg), 'scratch'), onLine: (line) => lines.push(line) > 0 })
  const [user = '', name] = lines[0]?.split(' ') ?? []
  expect(isToolUser(user)).toBe(true)
  expect(name).toBe('ffmpeg')
})

/**
 * Returns whether a tool should run as this user. Without root, the tool runs as the user of the
 * test, which has no id in its namespace.
 */
const isToolUser = (user: string) =>
  process.getuid?.() === 0
    ? toolUserRanges.some(({ first, count }) => Number(user) >= first && Number(user) < first + count)
    : Number(user) === 65_534

test('kill -9 of the process that started ffmpeg ends all its processes within ten seconds', async () => {
  const scratch = fixture.scratch('orphan')
  const script = `
    import { runSandboxed } from ${JSON.stringify(new URL('./sandboxed-process.ts', import.meta.url).href)}
    await runSandboxed({ tool: ${JSON.stringify(fixture.tools.ffmpeg)}, scratch: ${JSON.stringify(scratch)},
      args: ['-nostdin', '-v', 'error', '-progress', 'pipe:1', '-re', '-f', 'lavfi', '-i', 'testsrc=s=64x64', '-f', 'null', '-'], onLine: () => true })`
  const parent = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', '--input-type=module-typescript', '-e', script], {
    stdio: 'inherit',
  })
  await waitFor(async () => (await processesIn(scratch)) > 0, { describe: 'a process' })
  // Once ffmpeg runs, the commands before it have set the parent death signal.
  await waitFor(async () => (await commandsIn(scratch)).includes('ffmpeg'), { describe: 'ffmpeg to run' })
  parent.kill('SIGKILL')
  await waitFor(async () => (await processesIn(scratch)) === 0, { describe: 'all processes to end' })
})

async function commandsIn(folder: string): Promise<string[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const programs = await Promise.all(
    ids.map(async (id) =>
      (await readlink(`/proc/${id}/cwd`).catch(() => '')) === folder ? readlink(`/proc/${id}/exe`).catch(() => '') : '',
    ),
  )
  return programs.map((path) => path.split('/').at(-1) ?? '').filter((name) => name !== '')
}
