import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Api } from './api.ts'
import { startSourceServer } from './source-server.ts'
import { makeSource } from './sources.ts'
import { createStrictApi, readContract } from './strict-api.ts'
import type { Fixture } from './table-row.ts'
import { SYSTEM_KEY, startTestPlatform, type TestPlatform } from './test-platform.ts'
import { createTenant, createUser, upload, type VideoRecord, waitUntilSettled } from './video-steps.ts'

export interface Platform extends Fixture {
  close(): Promise<void>
}

/** Returns a client that sends its requests through another client. */
export type Transport = (url: string, key: string | undefined, api: Api) => Api

/**
 * Starts the whole platform with two organisations and their users. All requests of the clients are
 * sent by `transport`.
 */
export async function startPlatform(
  env: Record<string, string> = {},
  start: (env: Record<string, string>) => Promise<TestPlatform> = startTestPlatform,
  transport: Transport = (_url, _key, api) => api,
): Promise<Platform> {
  const folder = await mkdtemp(join(tmpdir(), 'vitascope-platform-'))
  const sources = await startSourceServer(folder)
  const platform = await start(env)
  const contract = await readContract(platform.url)
  const withKey = (key?: string) => transport(platform.url, key, createStrictApi(`${platform.url}/v2`, contract, key))
  const owner = await createTenant(platform.system)
  const uploader = await createUser(platform.system, owner.organisationId, 'uploader')
  const otherTenant = await createTenant(platform.system)
  const clients = {
    owner: withKey(owner.key),
    uploader: withKey(uploader.key),
    otherTenant: withKey(otherTenant.key),
    system: withKey(SYSTEM_KEY),
    guest: withKey(),
  }
  let playingVideo: Promise<VideoRecord> | undefined
  const makePlaying = async () => {
    await makeSource(folder, 'small.mp4')
    const { id } = await upload(clients.owner, owner.organisationId, `${sources.url}/small.mp4`, { name: 'Plays' })
    const video = await waitUntilSettled(clients.owner, id)
    if (video.status.status !== 'ok') throw new Error(`the source does not play: ${JSON.stringify(video.status)}`)
    return video
  }
  return {
    ...{ platform, clients, owner, uploader, otherTenant, sources },
    async video(fields = {}) {
      const { id } = await upload(clients.owner, owner.organisationId, `${sources.url}/none.mp4`, fields)
      return waitUntilSettled(clients.owner, id)
    },
    async playing() {
      playingVideo ??= makePlaying()
      // Read again each time, because tests change the access settings of the video and thus its URLs.
      return (await clients.owner.get<VideoRecord>(`/video/${(await playingVideo).video_id}`)).body
    },
    async close() {
      await platform.remove()
      await sources.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
