import { ReleaseTestFailed, send } from './client.ts'

/** Begin of the paths of all media files. */
const MEDIA_PATH = '/delivery/'
/** Longest text of a response in a message. */
const MAX_TEXT = 300

/** Media files that the test received. */
export interface Played {
  /** Path of the master playlist. */
  playlist: string
  /** Path of the first segment. */
  segment: string
  /** Bytes of the first segment. */
  bytes: number
}

/**
 * Loads a master playlist, the playlist of its first variant, and the first segment of that. The
 * addresses have the host name for viewers, which may be unknown inside of a cluster, so each file is
 * requested below `mediaUrl`. Throws `ReleaseTestFailed`.
 */
export async function play(hls: string, mediaUrl: URL, signal: AbortSignal): Promise<Played> {
  const master = await load(locate(new URL(hls), mediaUrl), signal)
  const variant = await load(locate(readFirstEntry(master), mediaUrl), signal)
  const segment = await load(locate(readFirstEntry(variant), mediaUrl), signal)
  return { playlist: master.url.pathname, segment: segment.url.pathname, bytes: segment.bytes.length }
}

interface LoadedFile {
  url: URL
  bytes: Buffer
}

async function load(url: URL, signal: AbortSignal): Promise<LoadedFile> {
  const { status, bytes } = await send(url, { signal })
  if (status !== 200) throw new ReleaseTestFailed(`${url.href} returned ${status}: ${bytes.toString('utf8', 0, MAX_TEXT)}`)
  if (bytes.length === 0) throw new ReleaseTestFailed(`${url.href} is empty`)
  return { url, bytes }
}

/** Returns the address of the first variant or segment of a playlist. */
function readFirstEntry({ url, bytes }: LoadedFile): URL {
  const lines = bytes.toString().split('\n')
  const entry = lines.find((line) => line !== '' && !line.startsWith('#'))
  if (lines[0] !== '#EXTM3U' || entry === undefined) throw new ReleaseTestFailed(`${url.href} is not a playlist with an entry`)
  return new URL(entry, url)
}

/** Returns the address of a file below `mediaUrl`. A proxy may add a path in front of that of the file. */
function locate({ href, pathname, search }: URL, mediaUrl: URL): URL {
  const at = pathname.indexOf(MEDIA_PATH)
  if (at < 0) throw new ReleaseTestFailed(`${href} is not the address of a media file`)
  return new URL(pathname.slice(at) + search, mediaUrl)
}
