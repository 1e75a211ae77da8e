import { setTimeout as delay } from 'node:timers/promises'
import { type Client, createClient, ReleaseTestFailed } from './client.ts'
import { play } from './play.ts'

/** The organisation of the first system user. */
const SYSTEM_ORGANISATION = '1'
const POLL_MS = 1_000
/** Bound of the deletion, which also runs after the time for the test has ended. */
const CLEANUP_MS = 30_000

export interface ReleaseTestOptions {
  /** URL of the gateway, as the test reaches it. */
  url: URL
  /** URL below which the test requests media files. */
  mediaUrl: URL
  /** Key of a system user. */
  key: string
  /** Organisation in which the video is created. */
  organisationId: string
  /** Content of the video. */
  clip: Uint8Array<ArrayBuffer>
  /** Time for upload, encoding and playback. */
  timeoutMs: number
  /** Called with a line about each finished step. */
  report(line: string): void
}

interface Video {
  media_id: string
  uri: { hls: string }
  status: { status: string; progress: number; code: number }
}

/**
 * Uploads a clip, waits until it is encoded, plays its beginning, and deletes it. Throws
 * `ReleaseTestFailed`. The video is also deleted after a failure, as far as the platform responds.
 */
export async function runReleaseTest(options: ReleaseTestOptions): Promise<void> {
  const { url, key, clip, report } = options
  const signal = AbortSignal.timeout(options.timeoutMs)
  const client = createClient(url, key, signal)
  const userId = await findSystemUser(client)
  const began = performance.now()
  const videoId = await upload(client, options)
  report(`uploaded ${clip.length} bytes as video ${videoId}`)
  const failures: Error[] = []
  try {
    const video = await waitForVideo(client, videoId, options.timeoutMs, signal)
    report(`encoded the video ${((performance.now() - began) / 1000).toFixed(1)} s after the upload began`)
    const { playlist, segment, bytes } = await play(video.uri.hls, options.mediaUrl, signal)
    report(`played ${playlist}`)
    report(`played ${segment}, ${bytes} bytes`)
  } catch (error) {
    failures.push(error as Error)
  }
  try {
    await remove(createClient(url, key, AbortSignal.timeout(CLEANUP_MS)), videoId, userId)
    report(`deleted video ${videoId}`)
  } catch (error) {
    failures.push(new ReleaseTestFailed(`video ${videoId} remains: ${(error as Error).message}`, { cause: error }))
  }
  if (failures.length > 0) throw new ReleaseTestFailed(failures.map(({ message }) => message).join('\n'), { cause: failures[0] })
}

/** Returns the id of a system user, on whose behalf the media is deleted. */
async function findSystemUser(client: Client): Promise<string> {
  const users = await client.request<{ user_id: string; user_type: string }[]>('GET', `/v2/user?organisation_id=${SYSTEM_ORGANISATION}`)
  const user = users.find(({ user_type }) => user_type === 'system')
  if (!user) throw new ReleaseTestFailed(`organisation ${SYSTEM_ORGANISATION} has no system user`)
  return user.user_id
}

async function upload(client: Client, { clip, organisationId }: ReleaseTestOptions): Promise<string> {
  const form = new FormData()
  form.set('organisation_id', organisationId)
  form.set('title', 'Test of the release')
  // Not in feeds and lists of guests.
  form.set('visibility', 'unlisted')
  form.set('file', new Blob([clip], { type: 'video/mp4' }), 'release-test.mp4')
  return (await client.request<{ id: string }>('POST', '/v2/video/upload', form)).id
}

/** Waits until the video is encoded. */
async function waitForVideo(client: Client, videoId: string, timeoutMs: number, signal: AbortSignal): Promise<Video> {
  let progress = 'not reported'
  try {
    for (;;) {
      const video = await client.request<Video>('GET', `/v2/video/${videoId}`)
      const { status, code } = video.status
      progress = `"${status}", ${video.status.progress} %`
      if (status === 'ok') return video
      if (status === 'failed') {
        throw new ReleaseTestFailed(`the video could not be encoded (code ${code}): read the logs of encoding and of the workers`)
      }
      await delay(POLL_MS, undefined, { signal })
    }
  } catch (error) {
    if (!signal.aborted) throw error
    throw new ReleaseTestFailed(
      `the video was not encoded within ${timeoutMs / 1000} s (status ${progress}): check whether workers run and have capacity`,
      { cause: error },
    )
  }
}

async function remove(client: Client, videoId: string, userId: string): Promise<void> {
  const { media_id } = await client.request<Video>('GET', `/v2/video/${videoId}`)
  await client.request('DELETE', `/v2/media?media_id=${media_id}&user_id=${userId}`)
}
