import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { grantBucketRights } from '@vitascope/storage'
import { s3Path, startS3, type TestS3, waitFor } from '@vitascope/testing'
import { Webhook as Verifier } from 'standardwebhooks'
import { runCommand } from './support/command.ts'
import { type SourceServer, startSourceServer } from './support/source-server.ts'
import { makeSource } from './support/sources.ts'
import { SYSTEM_KEY, startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { createTenant, type Tenant, upload, type VideoRecord, waitUntilSettled } from './support/video-steps.ts'

const withS3 = s3Path() === undefined ? describe.skip : describe
const CALL_PAUSE_MS = 50

withS3('a platform under calls', () => {
  let folder: string
  let store: TestS3
  let sources: SourceServer
  let platform: TestPlatform
  let tenant: Tenant
  let video: VideoRecord
  const files = () => ({ id: join(folder, 's3-id'), secret: join(folder, 's3-secret') })

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'vitascope-rotate-'))
    await makeSource(folder, 'other.mp4')
    sources = await startSourceServer(folder)
    store = await startS3()
    for (const name of ['first', 'second', 'w', 'd', 'b']) await store.addUser(name)
    await grant('first')
    await writeKeys('first')
    platform = await startTestPlatform({
      VITASCOPE_S3_ENDPOINT: store.endpoint,
      VITASCOPE_S3_BUCKET: store.bucket,
      VITASCOPE_S3_ACCESS_KEY_ID_FILE: files().id,
      VITASCOPE_S3_SECRET_KEY_FILE: files().secret,
      VITASCOPE_DELIVERY_CACHE_BYTES: '0',
    })
    tenant = await createTenant(platform.system)
    const api = platform.withKey(tenant.key)
    const { id } = await upload(api, tenant.organisationId, `${sources.url}/other.mp4`)
    expect((await waitUntilSettled(api, id)).status.status).toBe('ok')
    expect((await api.patch(`/video/${id}`, { security: { token_required_platform: true } })).status).toBe(200)
    // The change of the access has changed the URLs of the files.
    video = await waitUntilSettled(api, id)
  }, 240_000)
  afterAll(async () => {
    await platform?.remove()
    await sources?.close()
    await store?.stop()
    await rm(folder, { recursive: true, force: true })
  }, 60_000)

  const grant = (...encoding: string[]) => grantBucketRights(store, { encoding, worker: ['w'], delivery: ['d'], backup: ['b'] })
  const replace = async (file: string, content: string) => {
    await writeFile(`${file}.next`, content, { mode: 0o600 })
    await rename(`${file}.next`, file)
  }
  const writeKeys = async (name: string) => {
    await replace(files().id, name)
    await replace(files().secret, `secret-of-${name}`)
  }

  /** Returns the sum of the reloads of a key file in all services. */
  async function reloads(file: string): Promise<number> {
    const page = await (await fetch(platform.metricsUrl)).text()
    const counts = page.matchAll(new RegExp(`^vitascope_key_file_changes_total\\{[^}]*file="${file}"[^}]*\\} (\\d+)`, 'gm'))
    return [...counts].reduce((sum, [, count]) => sum + Number(count), 0)
  }

  /** Runs a step of `rotate-key`, and waits until `services` have read the file. */
  async function step(name: string, stepName: string, services: number): Promise<void> {
    const before = await reloads(name)
    const { code, stderr } = await runCommand('rotate-key', [name, stepName], { VITASCOPE_DATA_DIR: platform.dataDir })
    expect([code, stderr]).toEqual([0, ''])
    await waitFor(async () => (await reloads(name)) === before + services, { timeout: 20_000, describe: `${name} to be read again` })
  }

  const withToken = (url: string, token: string) => url.replace(/(\/delivery\/\d+\/[^/]+)\//, `$1~${token}/`)

  /** Calls in a loop. Each returns the problem, or undefined if it succeeded. */
  function startCalls(calls: Record<string, () => Promise<string | undefined>>) {
    const problems: string[] = []
    const successes: Record<string, number> = Object.fromEntries(Object.keys(calls).map((name) => [name, 0]))
    let [isStopped, phase] = [false, 'before']
    const loops = Object.entries(calls).map(async ([name, call]) => {
      while (!isStopped) {
        const problem = await call().catch((error: unknown) => `${error}`)
        if (problem === undefined) successes[name] = (successes[name] ?? 0) + 1
        else problems.push(`${new Date().toISOString()} ${phase} ${name}: ${problem}`)
        await delay(CALL_PAUSE_MS)
      }
    })
    return {
      problems,
      /** Names the step in the problems of later calls. */
      begin: (name: string) => {
        phase = name
      },
      /** Waits until each call has succeeded again. */
      async progress() {
        const before = { ...successes }
        const hasGrown = () => Object.entries(successes).every(([name, count]) => count > (before[name] ?? 0) + 2) || problems.length > 0
        await waitFor(hasGrown, { timeout: 30_000, describe: 'calls after a step' })
      },
      async stop() {
        isStopped = true
        await Promise.all(loops)
      },
    }
  }

  test('no call is rejected while the master, token, upload, S3 and webhook keys are replaced', async () => {
    const api = platform.withKey(tenant.key)
    const { video_id: id, uri } = video
    const mp4 = Object.values(uri.http)[0] ?? ''
    const createToken = async () => (await api.post<{ token: string }>(`/video/${id}/token`, { expires_in: 600 })).body.token
    const createTicket = async () => (await api.post<{ url: string }>('/upload/ticket', {})).body.url
    const failedStatus = async (response: Promise<{ status: number; body: unknown }>) => {
      const { status, body } = await response
      return status < 300 ? undefined : `${status} ${body instanceof ReadableStream ? await text(body) : JSON.stringify(body)}`
    }
    const headers = { range: 'bytes=0-99' }
    const useTicket = (url: string) => failedStatus(fetch(url, { method: 'HEAD', headers: { 'tus-resumable': '1.0.0' } }))

    // The receiver has one secret at a time.
    let secret = ''
    let delivered = 0
    const unverified: string[] = []
    sources.setHandler('/hook', async (request, response) => {
      const body = await text(request)
      try {
        new Verifier(secret).verify(body, request.headers as Record<string, string>)
        delivered++
        response.writeHead(204).end()
      } catch (error) {
        unverified.push(`${error}`)
        response.writeHead(401).end()
      }
    })
    const hook = await api.post<{ webhook_id: string; secret: string }>('/webhook', { url: `${sources.url}/hook`, events: ['video.ready'] })
    secret = hook.body.secret
    const hookId = hook.body.webhook_id

    const [oldToken, oldTicket] = [await createToken(), await createTicket()]
    const calls = startCalls({
      read: () => failedStatus(api.get(`/video/${id}`)),
      write: () => failedStatus(api.post(`/playlist/create/${tenant.organisationId}`, { title: 'during the rotation' })),
      'new token': async () => failedStatus(fetch(withToken(mp4, await createToken()), { headers })),
      'old token': () => failedStatus(fetch(withToken(mp4, oldToken), { headers })),
      'new ticket': async () => useTicket(await createTicket()),
      'old ticket': () => useTicket(oldTicket),
      // 409: the last test is still being delivered.
      webhook: async () => {
        const { status } = await api.post(`/webhook/${hookId}/test`, {})
        return status === 202 || status === 409 ? undefined : String(status)
      },
    })
    try {
      await calls.progress()
      // Auth and the catalogue have the master key, the catalogue and delivery the token keys.
      for (const [name, services] of [
        ['master-key', 2],
        ['token-keys', 2],
        ['upload-signing-key', 1],
      ] as const) {
        for (const stepName of ['add', 'use']) {
          calls.begin(`${name} ${stepName}`)
          await step(name, stepName, services)
          await calls.progress()
        }
      }
      calls.begin('rekey')
      const rekey = await runCommand('rekey', [], { VITASCOPE_DATA_DIR: platform.dataDir, VITASCOPE_SYSTEM_KEY: SYSTEM_KEY })
      expect([rekey.code, rekey.stderr]).toEqual([0, ''])
      await step('master-key', 'remove', 2)

      calls.begin('s3-keys')
      await grant('first', 'second')
      const before = await reloads('s3-keys')
      await writeKeys('second')
      // Delivery reads objects constantly. Encoding and the worker use the new pair at their next request.
      await waitFor(async () => (await reloads('s3-keys')) > before, { timeout: 20_000, describe: 'the new keys of the bucket to be used' })
      const during = await upload(api, tenant.organisationId, `${sources.url}/other.mp4`)
      expect((await waitUntilSettled(api, during.id)).status.status).toBe('ok')
      calls.begin('old s3-keys removed')
      await grant('second')
      await calls.progress()

      calls.begin('webhook')
      const next = await api.post<{ secret: string }>(`/webhook/${hookId}/secret`, {})
      expect(next.status).toBe(200)
      const atRotation = delivered
      await waitFor(() => delivered > atRotation + 5, { timeout: 30_000, describe: 'deliveries that the old secret verifies' })
      secret = next.body.secret
      const atSwitch = delivered
      await waitFor(() => delivered > atSwitch + 5, { timeout: 30_000, describe: 'deliveries that the new secret verifies' })
    } finally {
      await calls.stop()
    }
    expect(calls.problems.slice(0, 5)).toEqual([])
    expect(unverified).toEqual([])

    // The removal of the old keys ends what they signed.
    await step('token-keys', 'remove', 2)
    await step('upload-signing-key', 'remove', 1)
    expect((await fetch(withToken(mp4, oldToken), { headers })).status).toBe(401)
    expect((await fetch(withToken(mp4, await createToken()), { headers })).status).toBe(206)
    expect(await useTicket(oldTicket)).toMatch(/^404/)
    expect(await useTicket(await createTicket())).toBeUndefined()
  }, 300_000)
})
