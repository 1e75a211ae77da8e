import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startSourceServer } from '../../e2e/support/source-server.ts'
import { makeSource } from '../../e2e/support/sources.ts'
import { startTestPlatform, type TestPlatform } from '../../e2e/support/test-platform.ts'
import { createTenant, createUser, upload, waitUntilSettled } from '../../e2e/support/video-steps.ts'

/** A video and the keys of its organisation. */
export interface FilledOrganisation {
  videoId: string
  organisationId: string
  keys: readonly string[]
}

export interface FilledPlatform {
  platform: TestPlatform
  filled: FilledOrganisation[]
  /** URL of the source of the videos. */
  sourceUrl: string
  stop(): Promise<void>
}

const ORGANISATIONS = 4
const KEYS_EACH = 4

/**
 * Starts the whole platform like `npm start`, but without limits. It has this number of playable videos,
 * rounded up to a multiple of four, because each of four organisations has a quarter of them.
 */
export async function startFilledPlatform(videos: number, env: Record<string, string> = {}): Promise<FilledPlatform> {
  const folder = await mkdtemp(join(tmpdir(), 'vitascope-bench-overload-'))
  const sources = await startSourceServer(folder)
  const undo = async () => {
    await sources.close()
    await rm(folder, { recursive: true, force: true })
  }
  let platform: TestPlatform | undefined
  try {
    await makeSource(folder, 'small.mp4')
    platform = await startTestPlatform({ VITASCOPE_LIMITS: 'off', VITASCOPE_TRUST_PROXY: '127.0.0.1', ...env })
    const { system } = platform
    const filled: FilledOrganisation[] = []
    for (let nth = 0; nth < ORGANISATIONS; nth++) {
      const { organisationId, key } = await createTenant(system)
      const keys = [key]
      while (keys.length < KEYS_EACH) keys.push((await createUser(system, organisationId, 'standard')).key)
      const { id } = await upload(system, organisationId, `${sources.url}/small.mp4`, { name: 'Rocket launch', tags: ['space', 'rocket'] })
      const { media_id, status } = await waitUntilSettled(system, id)
      if (status.status !== 'ok') throw new Error(`the video is not playable: ${JSON.stringify(status)}`)
      const ids = [id]
      while (ids.length < videos / ORGANISATIONS) {
        const { body } = await platform.withKey(key).post<{ video_id: string }>(`/media/${media_id}/publish`)
        ids.push(body.video_id)
      }
      for (const videoId of ids) filled.push({ videoId, organisationId, keys })
    }
    const started = platform
    return {
      platform: started,
      filled,
      sourceUrl: `${sources.url}/small.mp4`,
      async stop() {
        await started.remove()
        await undo()
      },
    }
  } catch (error) {
    await platform?.remove()
    await undo()
    throw error
  }
}
