// Command of `helm test`: uploads a short video to a running platform, plays it and deletes it.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ReleaseTestFailed } from './client.ts'
import { type ReleaseTestOptions, runReleaseTest } from './release-test.ts'

const USAGE = `usage: node apps/gateway/src/release-test/main.ts --url URL --key-file FILE
    [--media-url URL] [--organisation ID] [--timeout SECONDS] [--clip FILE]`
const DEFAULT_TIMEOUT_SECONDS = '240'

process.exitCode = await run()

/** Returns the exit code: 0 after success, 1 after a failed test, 2 for wrong arguments. */
async function run(): Promise<number> {
  const options = readOptions()
  if (typeof options === 'string') return fail(`${options}\n${USAGE}`, 2)
  try {
    await runReleaseTest(options)
    process.stdout.write('the release works\n')
    return 0
  } catch (error) {
    if (error instanceof ReleaseTestFailed) return fail(`the test failed: ${error.message}`, 1)
    throw error
  }
}

/** Returns the options of the command line, or what is wrong with them. */
function readOptions(): ReleaseTestOptions | string {
  try {
    const { values } = parseArgs({
      options: {
        url: { type: 'string' },
        'media-url': { type: 'string' },
        'key-file': { type: 'string' },
        organisation: { type: 'string', default: '1' },
        timeout: { type: 'string', default: DEFAULT_TIMEOUT_SECONDS },
        clip: { type: 'string', default: join(import.meta.dirname, 'clip.mp4') },
      },
    })
    const { url, 'media-url': mediaUrl = url, 'key-file': keyFile } = values
    if (url === undefined || mediaUrl === undefined || keyFile === undefined) return '--url and --key-file are required'
    const seconds = Number(values.timeout)
    if (!Number.isInteger(seconds) || seconds < 1) return '--timeout must be a number of seconds'
    return {
      url: new URL(url),
      mediaUrl: new URL(mediaUrl),
      key: readFileSync(keyFile, 'utf8').trim(),
      organisationId: values.organisation,
      clip: new Uint8Array(readFileSync(values.clip)),
      timeoutMs: seconds * 1000,
      report: (line) => void process.stdout.write(`${line}\n`),
    }
  } catch (error) {
    return (error as Error).message
  }
}

function fail(message: string, code: number): number {
  process.stderr.write(`${message}\n`)
  return code
}
