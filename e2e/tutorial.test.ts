import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { findFfmpeg } from '@vitascope/media'
import { freePort, waitFor } from '@vitascope/testing'

const REPOSITORY = join(import.meta.dirname, '..')
const ADDRESS = 'http://127.0.0.1:8080'
const CLONE = 'git clone <this repository> vitascope && cd vitascope\n'
const run = promisify(execFile)

let folder: string
let checkout: string
let url: string
let env: NodeJS.ProcessEnv
let platform: ChildProcess
let printed = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tutorial-'))
  checkout = join(folder, 'vitascope')
  await copyCheckout(checkout)
  const [port, opsPort] = [await freePort(), await freePort()]
  url = `http://127.0.0.1:${port}`
  const programs = join(folder, 'programs')
  await mkdir(programs)
  await symlink((await findFfmpeg()).ffmpeg, join(programs, 'ffmpeg'))
  env = {
    ...readEnvironment(),
    PATH: [programs, join(folder, 'global/bin'), dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter),
    ...{ VITASCOPE_PORT: String(port), VITASCOPE_OPS_PORT: String(opsPort), VITASCOPE_DATA_DIR: join(checkout, 'data') },
    // npm works offline, because the packages of the tutorial have no dependencies. The prefix keeps global packages in the
    // folder of this test.
    ...{ npm_config_prefix: join(folder, 'global'), npm_config_offline: 'true', npm_config_audit: 'false' },
    ...{ XDG_CONFIG_HOME: join(folder, 'config'), XDG_STATE_HOME: join(folder, 'state') },
    // The commands of the tutorial require the settings of the command line tool. `npm start` accepts them too.
    ...{ VITASCOPE_HOME: checkout, VITASCOPE_URL: url },
  }
  platform = spawn('bash', ['-c', await readStart()], { cwd: checkout, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  for (const stream of [platform.stdout, platform.stderr]) stream?.on('data', (bytes: Buffer) => (printed += bytes.toString()))
  await waitFor(() => printed.includes('Vitascope is ready') || platform.exitCode !== null, {
    timeout: 100_000,
    describe: 'npm start to be ready',
  })
  if (platform.exitCode !== null) throw new Error(printed)
}, 120_000)
afterAll(async () => {
  if (platform?.pid !== undefined && platform.exitCode === null) {
    const ended = new Promise((resolve) => platform.once('close', resolve))
    process.kill(-platform.pid, 'SIGINT')
    await ended
  }
  await rm(folder, { recursive: true, force: true, maxRetries: 5 })
}, 60_000)

/**
 * Returns the environment without `NODE_OPTIONS`, and without `VITASCOPE_` variables except
 * `VITASCOPE_FFMPEG`, because `npm start` rejects unknown settings.
 */
function readEnvironment(): NodeJS.ProcessEnv {
  const isKept = (name: string) => name === 'VITASCOPE_FFMPEG' || !/^(VITASCOPE_|NODE_OPTIONS$)/.test(name)
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => isKept(name)))
}

/**
 * Creates a folder with symbolic links to the files of the checkout, and copies of `package.json` and `packages`. Omits
 * `data`, `.git` and `.cache`.
 */
async function copyCheckout(target: string): Promise<void> {
  await mkdir(target)
  for (const name of await readdir(REPOSITORY)) {
    if (['data', '.git', '.cache', 'package.json', 'packages'].includes(name)) continue
    await symlink(join(REPOSITORY, name), join(target, name))
  }
  // npm packs only packages that are in the folder itself, not behind a symbolic link.
  await cp(join(REPOSITORY, 'package.json'), join(target, 'package.json'))
  await cp(join(REPOSITORY, 'packages'), join(target, 'packages'), {
    recursive: true,
    filter: (file) => !file.includes('node_modules', REPOSITORY.length),
  })
}

/** Returns the code blocks of a page in one language, with the address of the tested platform. */
async function readBlocks(page: string, language: string): Promise<string[]> {
  const text = await readFile(join(REPOSITORY, 'docs/tutorial', page), 'utf8')
  return [...text.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))].map(([, block = '']) => block.replaceAll(ADDRESS, url))
}

/** Returns the commands that start the platform. They are the same on all pages. */
async function readStart(): Promise<string> {
  const [start = ''] = await readBlocks('first-video.md', 'sh')
  expect(start).toBe(`${CLONE}npm start\n`)
  return start.slice(CLONE.length)
}

/** Runs the shell blocks of a page, except the first one, which starts the platform, as one script. Returns its output. */
async function runPage(page: string, transformBlock: (block: string) => string = (block) => block): Promise<string> {
  const [start, ...blocks] = (await readBlocks(page, 'sh')).map(transformBlock)
  expect(start).toBe(`${CLONE}npm start\n`)
  const script = `set -euo pipefail\n${blocks.join('\n')}`
  const { stdout } = await run('bash', ['-c', script], { cwd: checkout, env }).catch(({ stdout, stderr }) =>
    Promise.reject(new Error(`${script}\n${stdout}${stderr}`)),
  )
  return stdout
}

/** Checks that a page ended with a video that has captions, and that plays with the printed token only. */
async function expectProtectedVideo(output: string): Promise<void> {
  const [, id = '', token = ''] = /\/player\/(\d+)\?token=(\S+)/.exec(output) ?? []
  const response = await fetch(`${url}/v2/video/${id}`)
  const video = (await response.json()) as { uri: { hls: string }; captions: { data: { title: string; language: string }[] } }
  expect(video.captions.data).toMatchObject([{ title: 'English', language: 'en-GB' }])
  const refused = await fetch(video.uri.hls)
  expect([refused.status, await refused.json()]).toEqual([403, expect.objectContaining({ code: 'token_required' })])
  const playlist = await fetch(`${video.uri.hls}?token=${token}`)
  expect([playlist.status, await playlist.text()]).toEqual([200, expect.stringMatching(/TYPE=SUBTITLES.*NAME="English"/)])
  expect((await fetch(`${url}/player/${id}?token=${token}`)).status).toBe(200)
  expect(output).toMatch(/#EXTM3U\n[\s\S]*TYPE=SUBTITLES/)
}

test('npm start prints where the key is', () => {
  expect(printed).toMatch(/^ {2}Upload +http:\/\/127\.0\.0\.1:\d+\/upload$/m)
  expect(printed).toMatch(/^ {2}System key +in data\/system-key$/m)
})

test('the tutorial with curl leads to a protected video with captions', async () => {
  const output = await runPage('first-video.md')
  expect(output).toMatch(/403$/m)
  expect(output).toContain('"code":"token_required"')
  await expectProtectedVideo(output)
}, 150_000)

test('the tutorial in TypeScript leads to a protected video with captions', async () => {
  const app = join(folder, 'first-video')
  // The script copies the program into the project folder immediately before the command that runs it.
  const program = (await readBlocks('first-video-in-typescript.md', 'ts')).join('\n')
  const file = join(folder, 'program.ts')
  await writeFile(file, program)
  const output = await runPage('first-video-in-typescript.md', (block) =>
    block.startsWith('node ') ? `cp ${file} first-video.mts\n${block}` : block,
  )
  expect(existsSync(join(app, 'node_modules/@vitascope/sdk/dist'))).toBe(true)
  expect(output).toMatch(/ready \d+ 12/)
  expect(output).toMatch(/captions 2\nrefused without a token\nwith a token 200\n/)
  await expectProtectedVideo(output)
}, 150_000)

test('the tutorial with the command line tool leads to a protected video with captions', async () => {
  const output = await runPage('first-video-with-the-cli.md')
  expect(output).toMatch(/^code +token_required$[\s\S]*^denied$[\s\S]*^allowed +true$[\s\S]*^403$/m)
  await expectProtectedVideo(output)
}, 150_000)
