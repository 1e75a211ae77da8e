import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { freePort } from '@vitascope/embedded-postgres'
import { createLogPrinter, readPlatformConfig } from '@vitascope/platform'
import { startPlatform } from '../apps/standalone/src/platform.ts'
import { generate } from './lib/generate.ts'
import { installPythonPackages } from './lib/python-packages.ts'
import { root, runCommand } from './lib/run-command.ts'

// npm run fuzz [-- --examples 10 --seed 1 --path '^/tag']: schemathesis calls every operation of
// the served API document with the system key, with valid and invalid requests. It fails on a 5xx
// response and on every response whose status, content type or schema the document does not
// declare.
const VERSION = '4.32.5'
const KEY = 'system-key-of-the-fuzzing-0001'
const CHECKS = 'not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance'
const { values } = parseArgs({
  options: { examples: { type: 'string', default: '10' }, seed: { type: 'string', default: '1' }, path: { type: 'string' } },
})

/** Exit code if the fuzzer could not run, which is not a failure of the API. */
const CANNOT_RUN = 75

await generate()
const bin = await installPythonPackages('schemathesis', [`schemathesis==${VERSION}`]).catch((error: Error) => {
  console.error(error.message)
  process.exit(CANNOT_RUN)
})
const folder = await mkdtemp(join(tmpdir(), 'vitascope-fuzz-'))
const platform = await startPlatform(
  readPlatformConfig({
    VITASCOPE_PORT: String(await freePort()),
    VITASCOPE_OPS_PORT: String(await freePort()),
    VITASCOPE_DATA_DIR: folder,
    VITASCOPE_SYSTEM_KEY: KEY,
    VITASCOPE_LIMITS: 'off',
  }),
  createLogPrinter({ write: (text) => / (ERROR|FATAL): /.test(text) && process.stderr.write(text) }),
)
try {
  const args = [
    ...['run', `${platform.url}/openapi.json`, '--auth', `${KEY}:x`, '--checks', CHECKS, '--phases', 'examples,coverage,fuzzing'],
    // One worker, because Python before 3.12.2 fails when threads parse source concurrently
    // (CPython gh-106905).
    ...['--max-examples', values.examples, '--seed', values.seed, '--workers', '1', '--continue-on-failure', '--no-shrink'],
    ...['--warnings', 'off', '--request-timeout', '20'],
    ...(values.path ? ['--include-path-regex', values.path] : []),
  ]
  const hooks = { SCHEMATHESIS_HOOKS: 'fuzz_hooks', PYTHONPATH: join(root, 'tools'), PYTHONDONTWRITEBYTECODE: '1' }
  // schemathesis writes a cache into its working directory.
  const { code, output } = await runCommand(join(bin, 'schemathesis'), args, hooks, folder)
  console.log(output)
  process.exitCode = code
} finally {
  await platform.stop()
  await rm(folder, { recursive: true, force: true })
}
