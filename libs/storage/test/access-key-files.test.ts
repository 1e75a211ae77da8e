import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createUrlSigner, grantBucketRights, openS3Storage, watchAccessKeys } from '@vitascope/storage'
import { s3Path, startS3, type TestS3, waitFor } from '@vitascope/testing'

const describeWithS3 = s3Path() === undefined ? describe.skip : describe

describeWithS3('with the keys of a bucket in files', () => {
  let folder: string
  let store: TestS3
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'vitascope-keys-'))
    store = await startS3()
  }, 60_000)
  afterAll(async () => {
    await store?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  test('no request is rejected while the keys are replaced, in any order of the files, and the old keys end', async () => {
    const [old, next] = [await store.addUser('old'), await store.addUser('next')]
    const grant = (...encoding: string[]) => grantBucketRights(store, { encoding, worker: ['w'], delivery: ['d'], backup: ['b'] })
    for (const name of ['w', 'd', 'b']) await store.addUser(name)
    await grant('old')
    const keyFiles = { accessKeyId: join(folder, 'id'), secretAccessKey: join(folder, 'secret') }
    await writeFile(keyFiles.accessKeyId, old.accessKeyId)
    await writeFile(keyFiles.secretAccessKey, old.secretAccessKey)
    const { endpoint, region, bucket } = store
    const rejections: string[] = []
    let changes = 0
    const options = {
      endpoint,
      region,
      bucket,
      ...old,
      keyFiles,
      keyListener: { onChange: () => changes++, onProblem: (error: unknown) => rejections.push(`${error}`) },
    }
    const [storage, presign] = [openS3Storage(options), createUrlSigner(options)]
    const signer = async () => {
      const url = await presign({ method: 'GET', name: 'media/first', now: new Date(), seconds: 60, responseHeaders: {} })
      return { url, id: new URL(url).searchParams.get('X-Amz-Credential')?.split('/')[0] }
    }
    await storage.put('media/first', Buffer.from('first'))

    const failures: unknown[] = []
    let [calls, isStopped] = [0, false]
    const work = async (id: number) => {
      for (let i = 0; !isStopped; i++) {
        try {
          await storage.put(`media/${id}-${i}`, Buffer.from('bytes'))
          expect((await fetch((await signer()).url)).status).toBe(200)
          calls++
        } catch (error) {
          failures.push(error)
        }
      }
    }
    const working = Promise.all([1, 2, 3].map(work))
    try {
      // The secret does not match the id yet, so the pair is not used.
      await writeFile(keyFiles.secretAccessKey, next.secretAccessKey)
      await waitFor(() => rejections.length > 0, { timeout: 20_000, describe: 'the incomplete pair to be rejected' })
      // The new user has no rights yet.
      await writeFile(keyFiles.accessKeyId, next.accessKeyId)
      await waitFor(() => rejections.length > 1, { timeout: 20_000, describe: 'the pair without rights to be rejected' })
      expect((await signer()).id).toBe('old')
      await writeFile(keyFiles.accessKeyId, old.accessKeyId)
      await writeFile(keyFiles.secretAccessKey, old.secretAccessKey)
      await waitFor(() => changes >= 2, { timeout: 20_000, describe: 'both users of the files to report that the restored pair is in use' })
      await writeFile(keyFiles.secretAccessKey, next.secretAccessKey)
      await writeFile(keyFiles.accessKeyId, next.accessKeyId)
      await grant('old', 'next')
      await waitFor(async () => (await signer()).id === 'next', { timeout: 20_000, describe: 'the new pair to be used' })
      const before = calls
      await waitFor(() => calls > before + 20, { describe: 'calls with the new pair' })
    } finally {
      isStopped = true
      await working
    }
    expect(failures).toEqual([])
    expect(calls).toBeGreaterThan(20)
    await grant('next')
    await storage.put('media/last', Buffer.from('last'))
  }, 120_000)

  test('a restored pair is reported without another request', async () => {
    const secretAccessKey = join(folder, 'restored')
    await writeFile(secretAccessKey, store.secretAccessKey)
    const { endpoint, region, bucket, accessKeyId } = store
    const reports: string[] = []
    const keyListener = { onChange: () => reports.push('in use'), onProblem: (error: unknown) => reports.push((error as Error).message) }
    const keys = { accessKeyId, secretAccessKey: store.secretAccessKey }
    const currentKeys = watchAccessKeys({ endpoint, region, bucket, ...keys, keyFiles: { secretAccessKey }, keyListener })
    await writeFile(secretAccessKey, 'another secret')
    expect(await currentKeys()).toEqual(keys)
    const rejection = `the object store does not accept the changed access key ${accessKeyId} (HTTP 403)`
    expect(reports).toEqual([rejection])
    await writeFile(secretAccessKey, store.secretAccessKey)
    await waitFor(() => reports.length > 1, { timeout: 20_000, describe: 'the restored pair to be reported' })
    expect(reports).toEqual([rejection, 'in use'])
  }, 60_000)
})
