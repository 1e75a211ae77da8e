import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { BUCKET_USERS, type BucketUser, openS3Storage } from '@vitascope/storage'
import { s3Path, startS3, type TestS3 } from '@vitascope/testing'
import { parse } from 'yaml'

interface Compose {
  services: Record<string, { command: string[]; environment: Record<string, string> }>
}

const execute = promisify(execFile)
const root = join(import.meta.dirname, '../..')
const describeWithS3 = s3Path() ? describe : describe.skip

describeWithS3('the containers of compose.yaml that set up the object store', () => {
  let s3: TestS3
  let secrets: string
  let compose: Compose

  beforeAll(async () => {
    compose = parse(await readFile(join(root, 'deploy/compose.yaml'), 'utf8'), { merge: true }) as Compose
    s3 = await startS3()
    secrets = await mkdtemp(join(tmpdir(), 'vitascope-compose-store-'))
    await execute(join(root, 'deploy/compose/make-secrets.sh'), [secrets])
    await writeFile(join(secrets, 's3-access-key-id'), s3.accessKeyId)
    await writeFile(join(secrets, 's3-secret-key'), s3.secretAccessKey)
  }, 60_000)
  afterAll(async () => {
    await s3?.stop()
    if (secrets) await rm(secrets, { recursive: true })
  })

  /** Replaces paths and addresses of a container's command by those of this test. */
  const replaceContainerPaths = (input: string) =>
    input.replaceAll('/run/secrets', secrets).replaceAll('http://objects:7070', s3.endpoint).replaceAll('$$', '$')

  async function prepare(): Promise<void> {
    const { 'object-users': users, 'object-rights': rights } = compose.services
    if (!users || !rights) throw new Error('compose.yaml does not prepare the store')
    const path = `${dirname(s3Path() ?? '')}:${process.env['PATH']}`
    await execute('/bin/sh', ['-ec', replaceContainerPaths(users.command[0] ?? '')], { env: { PATH: path } })
    const settings = Object.fromEntries(Object.entries(rights.environment).map(([name, value]) => [name, replaceContainerPaths(value)]))
    const env = { ...settings, PATH: path, VITASCOPE_S3_BUCKET: s3.bucket }
    await execute(process.execPath, ['--disable-warning=ExperimentalWarning', ...rights.command], { cwd: root, env })
  }

  async function openStore(user: BucketUser) {
    const { endpoint, region, bucket } = s3
    const secretAccessKey = (await readFile(join(secrets, `${user}-s3-secret-key`), 'utf8')).trim()
    return openS3Storage({ endpoint, region, bucket, accessKeyId: user, secretAccessKey })
  }

  test('grant each component its permissions, also when they run again and with new keys', async () => {
    for (const round of ['first', 'again', 'replaced']) {
      if (round === 'replaced') {
        for (const user of BUCKET_USERS) await rm(join(secrets, `${user}-s3-secret-key`))
        await execute(join(root, 'deploy/compose/make-secrets.sh'), [secrets])
        // The store caches users.
        await s3.kill()
        await s3.start()
      }
      await prepare()
      const [encoding, worker, delivery, backup] = await Promise.all(BUCKET_USERS.map(openStore))
      if (!encoding || !worker || !delivery || !backup) throw new Error('a component has no store')
      await worker.put(`media/1/${round}`, Buffer.from('bytes'))
      await expect(worker.delete(`media/1/${round}`)).rejects.toThrow()
      await expect(worker.put(`uploads/1/${round}`, Buffer.from('bytes'))).rejects.toThrow()
      for (const reader of [delivery, backup]) {
        expect(await text((await reader.open(`media/1/${round}`)).stream)).toBe('bytes')
        await expect(reader.put(`media/2/${round}`, Buffer.from('bytes'))).rejects.toThrow()
      }
      expect(await encoding.delete(`media/1/${round}`)).toBe(true)
    }
  }, 60_000)
})
