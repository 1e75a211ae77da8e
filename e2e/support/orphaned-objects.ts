import { readdir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { asSuperuser } from './database.ts'
import type { TestPlatform } from './test-platform.ts'
import type { VideoRecord } from './video-steps.ts'

/**
 * Returns the orphaned objects in storage. An object is not orphaned if it belongs to a playable video,
 * to one of these presentations, to a kept source, or to an upload with a row. Form uploads and uploads
 * in parts are kept for one day. They have a row when the uploader receives the response.
 */
export async function orphanedObjects(platform: TestPlatform, presentations: readonly string[]): Promise<string[]> {
  // Listed before the rows are read, so that new objects are not reported.
  const files = await listFiles(join(platform.dataDir, 'storage'))
  const usedFolders = new Set([...(await playingMedia(platform)).map((id) => `media/${id}`), ...presentations.map((id) => `slides/${id}`)])
  const rows = new Set([...(await listSources(platform)), ...(await uploadNames(platform))])
  const toFolder = (file: string) => file.split('/').slice(0, 2).join('/')
  return files.filter((file) => !rows.has(file) && !rows.has(`${toFolder(file)}/`) && !usedFolders.has(toFolder(file)))
}

/** Returns the media ids of the playable videos of all organisations, because earlier tests may have left some. */
async function playingMedia(platform: TestPlatform): Promise<string[]> {
  const ids: string[] = []
  for (let start = 1; ; start += 20) {
    const { body } = await platform.system.get<{ videos: VideoRecord[] }>(`/video?status=ok&limit=20&start=${start}`)
    ids.push(...body.videos.map((video) => video.media_id))
    if (body.videos.length < 20) return ids
  }
}

/** Returns the source objects of the jobs whose renditions are stored. A source is kept as long as its renditions. */
function listSources(platform: TestPlatform): Promise<string[]> {
  return names(
    platform,
    `select source ->> 'object' as name from encoding.job where kind = 'renditions' and state = 'ok' and not is_dropped`,
  )
}

/** Returns objects of form uploads, and folders of uploads in parts, which end with a slash. */
function uploadNames(platform: TestPlatform): Promise<string[]> {
  return names(platform, `select object as name from encoding.upload union all select 'tus/' || upload_id || '/' from encoding.tus_upload`)
}

function names(platform: TestPlatform, statement: string): Promise<string[]> {
  return asSuperuser(platform, async (client) => (await client.query<{ name: string }>(statement)).rows.map(({ name }) => name))
}

/** Returns the names of all objects. Skips temporary files of the store, whose paths begin with a dot. */
async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((name) => !name.startsWith('.'))
}
