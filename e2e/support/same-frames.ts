import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hashFrames } from './sources.ts'
import type { VideoRecord } from './video-steps.ts'

/** Throws if renditions of two videos from the same source have different frames. */
export async function expectSameFrames(one: VideoRecord, other: VideoRecord): Promise<void> {
  const keys = Object.keys(one.uri.http).toSorted()
  if (keys.join() !== Object.keys(other.uri.http).toSorted().join()) {
    throw new Error(`video ${other.video_id} has other renditions than ${one.video_id}: ${Object.keys(other.uri.http).join(', ')}`)
  }
  // Several keys can refer to one rendition.
  const pairs = new Map(keys.map((key) => [one.uri.http[key] ?? '', { key, url: other.uri.http[key] ?? '' }]))
  for (const [url, { key, url: otherUrl }] of pairs) {
    const files = await Promise.all([fetchFile(url), fetchFile(otherUrl)])
    const [hash, otherHash] = files.map((file) => createHash('sha256').update(file).digest('hex'))
    // Identical files do not have to be decoded.
    if (hash === otherHash) continue
    const [frames, otherFrames] = await Promise.all(files.map(decodedFrames))
    if (frames !== otherFrames) throw new Error(`${key} of video ${other.video_id} has other frames than that of ${one.video_id}`)
  }
}

async function fetchFile(url: string): Promise<Buffer> {
  const response = await fetch(url)
  if (response.status !== 200) throw new Error(`${url} returned ${response.status}`)
  return Buffer.from(await response.arrayBuffer())
}

async function decodedFrames(file: Buffer): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'vitascope-frames-'))
  try {
    await writeFile(join(folder, 'a.mp4'), file)
    return await hashFrames(join(folder, 'a.mp4'))
  } finally {
    await rm(folder, { recursive: true })
  }
}
