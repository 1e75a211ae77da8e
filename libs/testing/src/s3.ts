import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@vitascope/embedded-postgres'
import { findProgram } from './programs.ts'
import { waitFor } from './wait-for.ts'

/** Where the tests put the server that they build. */
export const builtPrograms = join(import.meta.dirname, '../../../node_modules/.cache/vitascope/bin')

/** An S3 server of this machine (Versity's gateway over a folder); undefined when there is none. */
export function s3Path(): string | undefined {
  return findProgram(['versitygw'], [builtPrograms])
}

/** An S3 server with one bucket. */
export interface TestS3 {
  endpoint: string
  bucket: string
  region: string
  accessKeyId: string
  secretAccessKey: string
  kill(): Promise<void>
  /** On the same port, with what it had. */
  start(): Promise<void>
  stop(): Promise<void>
}

/** A server of the test's own; needs `s3Path()`. */
export async function startS3(): Promise<TestS3> {
  const program = s3Path()
  if (program === undefined) throw new Error('there is no versitygw here')
  const folder = await mkdtemp(join(tmpdir(), 'vitascope-s3-'))
  const bucket = 'videos'
  const [objects, sidecar] = [join(folder, 'objects'), join(folder, 'sidecar')]
  await mkdir(join(objects, bucket), { recursive: true })
  await mkdir(sidecar)
  const port = await freePort()
  const region = 'us-east-1'
  const keys = { accessKeyId: 'test-access', secretAccessKey: 'test-secret-of-this-server' }
  const run = async () => {
    const args = ['--port', `127.0.0.1:${port}`, '--region', region, '--quiet', '--keep-alive', 'posix', '--sidecar', sidecar, objects]
    const env = { PATH: process.env['PATH'], ROOT_ACCESS_KEY: keys.accessKeyId, ROOT_SECRET_KEY: keys.secretAccessKey }
    const child = spawn(program, args, { stdio: 'ignore', env })
    const answers = () =>
      fetch(`http://127.0.0.1:${port}/`).then(
        () => true,
        () => false,
      )
    await waitFor(answers, { timeout: 20_000, describe: 'the S3 server to answer' })
    return child
  }
  let child = await run()
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }
  return {
    endpoint: `http://127.0.0.1:${port}`,
    bucket,
    region,
    ...keys,
    kill,
    async start() {
      child = await run()
    },
    async stop() {
      await kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
