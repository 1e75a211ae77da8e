import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PutBucketVersioningCommand, S3Client, type S3ClientConfig } from '@aws-sdk/client-s3'
import { freePort } from '@vitascope/embedded-postgres'
import { findProgram } from './programs.ts'
import { waitFor } from './wait-for.ts'

/** Folder of the programs that the tests build. */
export const builtProgramsDir = join(import.meta.dirname, '../../../.cache/vitascope/bin')

/** Returns the path of an S3 server (Versity's gateway over a folder), or undefined if it is not installed. */
export function s3Path(): string | undefined {
  return findProgram(['versitygw'], [builtProgramsDir])
}

/** An S3 server with one bucket. */
export interface TestS3 {
  endpoint: string
  bucket: string
  region: string
  accessKeyId: string
  secretAccessKey: string
  /** Adds a user without any rights and returns its keys; a bucket policy grants rights to its access key. */
  addUser(name: string): Promise<{ accessKeyId: string; secretAccessKey: string }>
  kill(): Promise<void>
  /** Starts the server again on the same port, with its data. */
  start(): Promise<void>
  stop(): Promise<void>
}

/** Starts a server; requires `s3Path()`. With `versioning`, the bucket retains deleted objects as versions. */
export async function startS3({ versioning = false }: { versioning?: boolean } = {}): Promise<TestS3> {
  const program = s3Path()
  if (program === undefined) throw new Error('versitygw is not installed')
  const folder = await mkdtemp(join(tmpdir(), 'vitascope-s3-'))
  const bucket = 'videos'
  const [objects, sidecar] = [join(folder, 'objects'), join(folder, 'sidecar')]
  await mkdir(join(objects, bucket), { recursive: true })
  const [users, versions] = [join(folder, 'users'), join(folder, 'versions')]
  for (const dir of [sidecar, users, versions]) await mkdir(dir)
  const port = await freePort()
  const region = 'us-east-1'
  const keys = { accessKeyId: 'test-access', secretAccessKey: 'test-secret-of-this-server' }
  const run = async () => {
    const args = [
      '--port',
      `127.0.0.1:${port}`,
      '--region',
      region,
      '--quiet',
      '--keep-alive',
      '--iam-dir',
      users,
      'posix',
      '--sidecar',
      sidecar,
      ...(versioning ? ['--versioning-dir', versions] : []),
      objects,
    ]
    const env = { PATH: process.env['PATH'], ROOT_ACCESS_KEY: keys.accessKeyId, ROOT_SECRET_KEY: keys.secretAccessKey }
    const child = spawn(program, args, { stdio: 'ignore', env })
    const responds = () =>
      fetch(`http://127.0.0.1:${port}/`).then(
        () => true,
        () => false,
      )
    await waitFor(responds, { timeout: 20_000, describe: 'the S3 server to respond' })
    return child
  }
  let child = await run()
  if (versioning) await enableVersioning({ endpoint: `http://127.0.0.1:${port}`, region, credentials: keys, forcePathStyle: true }, bucket)
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }
  return {
    endpoint: `http://127.0.0.1:${port}`,
    bucket,
    region,
    ...keys,
    async addUser(name) {
      const secret = `secret-of-${name}`
      const root = ['--access', keys.accessKeyId, '--secret', keys.secretAccessKey, '--endpoint-url', `http://127.0.0.1:${port}`]
      const args = ['admin', ...root, 'create-user', '--access', name, '--secret', secret, '--role', 'user']
      const [code] = (await once(spawn(program, args, { stdio: 'ignore' }), 'exit')) as [number | null]
      if (code !== 0) throw new Error(`versitygw did not add the user ${name}`)
      return { accessKeyId: name, secretAccessKey: secret }
    },
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

async function enableVersioning(settings: S3ClientConfig, bucket: string): Promise<void> {
  const client = new S3Client(settings)
  await client.send(new PutBucketVersioningCommand({ Bucket: bucket, VersioningConfiguration: { Status: 'Enabled' } }))
  client.destroy()
}
