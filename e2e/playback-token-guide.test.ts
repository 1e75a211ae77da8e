import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import { type SourceServer, startSourceServer } from './support/source-server.ts'
import { makeSource } from './support/sources.ts'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { createTenant, type Tenant, upload, type VideoRecord, waitUntilSettled } from './support/video-steps.ts'

const REPOSITORY = join(import.meta.dirname, '..')
const GUIDE = join(REPOSITORY, 'docs/guides/sign-playback-tokens.md')
const PYJWT = 'PyJWT[crypto]==2.10.1'
const run = promisify(execFile)

let folder: string
let platform: TestPlatform
let sources: SourceServer
let tenant: Tenant

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sources-'))
  sources = await startSourceServer(folder)
  await makeSource(folder, 'small.mp4')
  platform = await startTestPlatform()
  tenant = await createTenant(platform.system)
  // Node.js resolves packages from the folder of the script.
  await symlink(join(REPOSITORY, 'node_modules'), join(folder, 'node_modules'))
}, 120_000)
afterAll(async () => {
  await platform?.remove()
  await sources?.close()
  await rm(folder, { recursive: true, force: true })
})

const hasPython = await run('python3', ['-c', 'import venv, ensurepip']).then(
  () => true,
  () => false,
)

async function readBlocks(language: string): Promise<string[]> {
  return [...(await readFile(GUIDE, 'utf8')).matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))].map(([, block = '']) => block)
}

test('the scripts of the guide sign tokens that delivery accepts until the key is replaced', async () => {
  const api = platform.withKey(tenant.key)
  const { id } = await upload(api, tenant.organisationId, `${sources.url}/small.mp4`, { name: 'Signed' })
  expect((await waitUntilSettled(api, id)).status.status).toBe('ok')
  expect((await api.patch(`/video/${id}`, { security: { token_required_platform: true } })).status).toBe(200)
  const { body: video } = await api.get<VideoRecord>(`/video/${id}`)

  const env: NodeJS.ProcessEnv = {
    ...process.env,
    ...{ KEY: tenant.key, API: `${platform.url}/v2`, VIDEO: id, ORGANISATION: tenant.organisationId },
  }
  const runIn = async (command: string, ...options: string[]) => {
    const { stdout } = await run(command, options, { cwd: folder, env }).catch(({ stdout: text, stderr }) =>
      Promise.reject(new Error(`${options.join(' ')}\n${text}${stderr}`)),
    )
    return stdout.trim()
  }
  const runShell = (script: string) => runIn('bash', '-c', `set -euo pipefail\n${script}`)
  const [register = '', sign = '', explain = '', replace = '', ...others] = await readBlocks('sh')
  expect(others).toEqual([])

  expect(await runShell(register)).toContain('"algorithm":"EdDSA"')
  env['KEY_ID'] = await runShell(`${sign.split('\n')[0]}\necho $KEY_ID`)
  const tokens = [await runShell(sign)]
  const [script = ''] = await readBlocks('ts')
  await writeFile(join(folder, 'sign.ts'), script)
  tokens.push(await runIn(process.execPath, 'sign.ts'))
  if (hasPython) {
    const [source = ''] = await readBlocks('python')
    await writeFile(join(folder, 'sign.py'), source)
    await runIn('python3', '-m', 'venv', 'environment')
    await runIn('environment/bin/pip', 'install', '--quiet', '--disable-pip-version-check', PYJWT)
    tokens.push(await runIn('environment/bin/python', 'sign.py'))
  }
  const status = async (token: string) => (await fetch(`${video.uri.hls}?token=${token}`)).status
  await waitFor(async () => (await status(tokens[0] ?? '')) === 200, { describe: 'the token of the shell to be accepted' })
  expect(await Promise.all(tokens.map(status))).toEqual(tokens.map(() => 200))
  env['TOKEN'] = tokens[1]
  expect(await runShell(explain)).toContain('"allowed":true')

  expect(await runShell(replace)).toContain('"active":false')
  await waitFor(async () => (await status(tokens[0] ?? '')) === 401, {
    timeout: 5_000,
    describe: 'the tokens of the deleted key to be rejected',
  })
  expect(await Promise.all(tokens.map(status))).toEqual(tokens.map(() => 401))
}, 180_000)
