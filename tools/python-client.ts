// npm run python-client [-- --out FOLDER]: generates a Python client of the API from docs/openapi.json
// with openapi-python-client, and calls a platform with it. The client is written to
// the folder vitascope_client in .cache/python-client, or in a folder of your choice.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { freePort } from '@vitascope/embedded-postgres'
import { createLogPrinter, readPlatformConfig } from '@vitascope/platform'
import { startPlatform } from '../apps/standalone/src/platform.ts'
import { type Contract, JSON_TYPE, simplifyContract } from '../packages/sdk/simplify-contract.ts'
import { generate } from './lib/generate.ts'
import { installPythonPackages } from './lib/python-packages.ts'
import { root, runCommand } from './lib/run-command.ts'

const GENERATOR = 'openapi-python-client==0.29.1'
/** Packages that the generated client imports. */
const LIBRARIES = ['httpx==0.28.1', 'attrs==26.1.0']
const KEY = 'system-key-of-the-python-client-0001'
const { values } = parseArgs({
  options: { out: { type: 'string', default: join(root, '.cache/python-client') } },
})

/** Exit code if the generator could not run, which is not a failure of the API. */
const CANNOT_RUN = 75

await generate()
const bin = await installPythonPackages('python-client', [GENERATOR, ...LIBRARIES]).catch((error: Error) => {
  console.error(error.message)
  process.exit(CANNOT_RUN)
})
const out = join(resolve(values.out), 'vitascope_client')
const folder = mkdtempSync(join(tmpdir(), 'vitascope-python-'))
try {
  await generateClient()
  await callPlatform()
} finally {
  rmSync(folder, { recursive: true })
}

/**
 * Generates the client from a simplified contract. The complete one would result in 4,258 models and 28 MB, because each
 * form of a payload and each error would have its own.
 */
async function generateClient(): Promise<void> {
  const contract = JSON.parse(readFileSync(join(root, 'docs/openapi.json'), 'utf8')) as Contract
  simplifyContract(contract)
  for (const operations of Object.values(contract.paths)) {
    for (const [method, { requestBody }] of Object.entries(operations)) {
      const json = requestBody?.content[JSON_TYPE]
      // Uploads by tus and of raw files have no JSON. Python has clients of tus for them.
      if (requestBody && json === undefined) delete operations[method]
      else if (requestBody) requestBody.content = { [JSON_TYPE]: json }
    }
  }
  const document = join(folder, 'openapi.json')
  writeFileSync(document, JSON.stringify(contract))
  mkdirSync(dirname(out), { recursive: true })
  const args = ['generate', '--path', document, '--output-path', out, '--overwrite', '--meta', 'none']
  // The generator formats its result with ruff, if it is in the PATH. An empty configuration disables that.
  const config = join(folder, 'config.yaml')
  writeFileSync(config, 'post_hooks: []\n')
  const { code, output } = await runCommand(join(bin, 'openapi-python-client'), [...args, '--config', config])
  // The feed (RSS) is the only response that the generator does not support.
  const warnings = [...output.matchAll(/^WARNING parsing (.*)$/gm)].map(([, text = '']) => text)
  const unexpected = warnings.filter((text) => !text.includes('/playlist/rss/'))
  if (code !== 0 || unexpected.length > 0) throw new Error(`the Python client was not generated completely:\n${output}`)
  console.log(`generated ${out}`)
}

async function callPlatform(): Promise<void> {
  const platform = await startPlatform(
    readPlatformConfig({
      VITASCOPE_PORT: String(await freePort()),
      VITASCOPE_OPS_PORT: String(await freePort()),
      VITASCOPE_DATA_DIR: join(folder, 'data'),
      VITASCOPE_SYSTEM_KEY: KEY,
      // The smoke test uploads from a URL on this machine, which does not exist.
      VITASCOPE_SOURCE_ALLOW: '127.0.0.0/8',
    }),
    createLogPrinter({ write: (text) => / (ERROR|FATAL): /.test(text) && process.stderr.write(text) }),
  )
  try {
    const env = { PYTHONPATH: dirname(out), PYTHONDONTWRITEBYTECODE: '1', VITASCOPE_URL: platform.url, VITASCOPE_KEY: KEY }
    const { code, output } = await runCommand(join(bin, 'python'), [join(root, 'tools/python_client_smoke.py')], env, folder)
    console.log(output)
    process.exitCode = code
  } finally {
    await platform.stop()
  }
}
