import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startS3, waitFor } from '@vitascope/testing'
import { objectProblems } from './object-problems.ts'
import { startSourceServer } from './source-server.ts'
import { ffmpeg, makeSource } from './sources.ts'
import { type StoreFault, startStoreProxy } from './store-proxy.ts'
import { startTestPlatform } from './test-platform.ts'
import { createTenant, upload, waitUntilSettled } from './video-steps.ts'

/** Duration of each fault: until this number of requests is affected, or this number of seconds after the first affected one. */
export type FaultTime = { requests: number } | { seconds: number }

export interface FaultyStoreRun {
  /** Final states of the videos. */
  states: string[]
  /** Error messages of ffmpeg while it decodes the files. Empty if all files are intact. */
  decodingErrors: string
}

/**
 * Runs a platform with a store that fails, aborts and delays requests in turn, while videos are
 * encoded. Waits until no object lacks its row, and no row its objects.
 */
export async function runOnFaultyStore({
  times,
  videos,
  env,
}: {
  times: FaultTime
  videos: number
  env: Record<string, string>
}): Promise<FaultyStoreRun> {
  const folder = await mkdtemp(join(tmpdir(), 'vitascope-faulty-'))
  await makeSource(folder, 'other.mp4')
  const sources = await startSourceServer(folder)
  const store = await startS3()
  const proxy = await startStoreProxy(store.endpoint)
  const secret = join(folder, 'secret-key')
  await writeFile(secret, store.secretAccessKey, { mode: 0o600 })
  const bucket = {
    VITASCOPE_S3_ENDPOINT: proxy.endpoint,
    VITASCOPE_S3_BUCKET: store.bucket,
    VITASCOPE_S3_ACCESS_KEY_ID: store.accessKeyId,
    VITASCOPE_S3_SECRET_KEY_FILE: secret,
  }
  const platform = await startTestPlatform({ ...bucket, ...env })
  try {
    const tenant = await createTenant(platform.system)
    const api = platform.withKey(tenant.key)
    const ids: string[] = []
    for (const fault of ['fails', 'resets', 'slow'] satisfies StoreFault[]) {
      proxy.set(fault)
      for (let n = 0; n < videos; n++) ids.push((await upload(api, tenant.organisationId, `${sources.url}/other.mp4`)).id)
      await waitFor(() => proxy.affectedRequests() >= ('requests' in times ? times.requests : 1), {
        timeout: 120_000,
        describe: `requests with the fault ${fault}`,
      })
      if ('seconds' in times) await delay(times.seconds * 1000)
    }
    proxy.set('none')
    const states: string[] = []
    let decodingErrors = ''
    for (const id of ids) {
      const { status, uri } = await waitUntilSettled(api, id, 600_000)
      states.push(status.status)
      for (const url of Object.values(uri.http ?? {})) {
        const file = join(folder, 'downloaded.mp4')
        await writeFile(file, Buffer.from(await (await fetch(url)).arrayBuffer()))
        decodingErrors += await ffmpeg(['-i', file, '-f', 'null', '-'])
      }
    }
    let problems: string[] = []
    const isConsistent = async () => {
      problems = await objectProblems(platform, bucket)
      return problems.length === 0
    }
    await waitFor(isConsistent, { timeout: 120_000, interval: 1_000, describe: () => `objects and rows to agree: ${problems.slice(0, 5)}` })
    return { states, decodingErrors }
  } finally {
    await platform.remove()
    await proxy.close()
    await store.stop()
    await sources.close()
    await rm(folder, { recursive: true, force: true })
  }
}
