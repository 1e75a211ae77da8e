import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import { extname, join } from 'node:path'
import { text } from 'node:stream/consumers'

const distFolder = join(import.meta.dirname, '../dist')
/** Built modules of @vitascope/player, at `/package/`. */
const packageFolder = join(import.meta.dirname, '../../../packages/player/dist')
const contentTypes: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.jpg': 'image/jpeg',
  '.m3u8': 'application/vnd.apple.mpegurl',
  '.mp4': 'video/mp4',
  '.m4s': 'video/iso.segment',
  '.vtt': 'text/vtt',
}

/**
 * A strict Content-Security-Policy: no other origins, nothing inline. hls.js starts each caption
 * track with `data:,WEBVTT`.
 */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self'; connect-src 'self'; media-src 'self' blob: data:; base-uri 'none'; form-action 'none'"

/** A view event, as players send it. */
export interface ReceivedEvent {
  video_id: string
  view_id: string
  type: string
  at: number
  position?: number
  watched?: [number, number][]
  rewatched?: [number, number][]
  language?: string
  subtitle?: string
  qoe?: { startup_ms?: number; stalls?: number; stalled_ms?: number; switches?: number; error?: string }
}

/**
 * Starts an HTTP server that replaces the gateway. It serves the built page, the records that a
 * test sets, and media from a folder.
 */
export async function startTestPlatform(media: string) {
  const records = new Map<string, { status: number; json: unknown }>()
  const requestedPaths: string[] = []
  const headTags = new Map<string, string>()
  const pages = new Map<string, string>()
  const rejections = new Map<string, { status: number; code: string }>()
  const brokenRecords = new Set<string>()
  const receivedEvents: ReceivedEvent[] = []
  const receivedReports: string[] = []
  const events = { status: 202 }
  const server = createServer((request, response) => {
    const { pathname, search } = new URL(request.url ?? '/', 'http://localhost')
    if (pathname === '/v2/analytics/events') {
      const { status } = events
      void text(request).then((body) => {
        if (status === 202) receivedEvents.push(...(JSON.parse(body) as ReceivedEvent[]))
        response.writeHead(status, { 'content-type': 'application/json' }).end('{}')
      })
      return
    }
    if (pathname === '/v2/analytics/cmcd') {
      const { status } = events
      void text(request).then((body) => {
        if (status === 202) receivedReports.push(...body.split('\n'))
        response.writeHead(status, { 'content-type': 'application/json' }).end('{}')
      })
      return
    }
    requestedPaths.push(pathname + search)
    const page = pages.get(pathname)
    if (page !== undefined) {
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page)
      return
    }
    const rejection = [...rejections].find(([prefix]) => pathname.startsWith(prefix))?.[1]
    if (rejection) {
      response.writeHead(rejection.status, { 'content-type': 'application/problem+json' }).end(JSON.stringify(rejection))
      return
    }
    const recordKey = /^\/v2\/(?:video|presentation|playlist)\/(.+)$/.exec(pathname)?.[1]
    if (recordKey !== undefined) {
      const sendRecord = (key: string) => {
        if (brokenRecords.has(key)) {
          response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
          response.write('{', () => response.destroy())
          return
        }
        const { status, json } = records.get(key + search) ?? records.get(key) ?? { status: 404, json: { detail: '' } }
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json))
      }
      if (request.method === 'POST')
        void text(request).then((body) => sendRecord(`${recordKey} ${(JSON.parse(body) as { password: string }).password}`))
      else sendRecord(recordKey)
      return
    }
    const file = toFile(pathname, media)
    if (!existsSync(file)) {
      response.writeHead(404).end()
      return
    }
    const caching = pathname.startsWith('/player/assets/') ? { 'cache-control': 'public, max-age=3600' } : {}
    const headers = {
      ...caching,
      'content-type': contentTypes[extname(file)] ?? 'application/octet-stream',
      'content-security-policy': policy,
    }
    const head = headTags.get(pathname)
    if (head !== undefined) response.writeHead(200, headers).end(readFileSync(file, 'utf8').replace('</head>', `${head}</head>`))
    else sendFile(response, readFileSync(file), { headers, range: request.headers.range })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  return {
    url: `http://127.0.0.1:${port}`,
    /** Requested paths with their queries, in order. */
    requestedPaths,
    /** Received view events, in order. */
    receivedEvents,
    /** Lines of the received CMCD reports, in order. */
    receivedReports,
    /** Response of the endpoints for events and reports. */
    events,
    /** Ids of the records whose responses break off. */
    brokenRecords,
    /** Sets the tags that the gateway writes into the page of an id. */
    setHead: (id: string, tags: string) => headTags.set(`/player/${id}`, tags),
    /** Adds a page that embeds the player. */
    addPage: (path: string, html: string) => pages.set(path, html),
    /** Rejects media whose path starts with `start`, until `accept`. */
    reject: (start: string, status: number, code: string) => rejections.set(start, { status, code }),
    accept: (start: string) => rejections.delete(start),
    /**
     * Sets the response for the video, presentation or playlist with this id, or for a password:
     * `ID/access PASSWORD`. An id with a query has precedence for requests with that query.
     */
    setRecord: (id: string, json: unknown, status = 200) => records.set(id, { status, json }),
    stop: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Sends the complete file, or the part that the `Range` header requests. */
function sendFile(
  response: ServerResponse,
  file: Buffer,
  { headers, range }: { headers: Record<string, string>; range: string | undefined },
) {
  const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(range ?? '') ?? []
  if (first === undefined) {
    response.writeHead(200, { ...headers, 'accept-ranges': 'bytes', 'content-length': file.length }).end(file)
    return
  }
  const end = last ? Math.min(Number(last), file.length - 1) : file.length - 1
  const part = file.subarray(Number(first), end + 1)
  const partHeaders = { 'content-range': `bytes ${first}-${end}/${file.length}`, 'content-length': part.length }
  response.writeHead(206, { ...headers, ...partHeaders }).end(part)
}

function toFile(pathname: string, media: string): string {
  if (pathname.startsWith('/player/assets/')) return join(distFolder, pathname.slice('/player/'.length))
  if (pathname.startsWith('/package/')) return join(packageFolder, pathname.slice('/package/'.length))
  if (pathname === '/player/embed.js') return join(distFolder, 'embed.js')
  if (pathname.startsWith('/player/')) return join(distFolder, 'index.html')
  return join(media, pathname.slice('/media/'.length))
}

/** Creates two renditions of 6 s with a master playlist, an MP4 and a poster. */
export function createMedia(ffmpeg: string, folder: string): void {
  const source = ['-f', 'lavfi', '-i', 'testsrc2=size=640x360:rate=25:duration=6', '-f', 'lavfi', '-i', 'sine=frequency=440:duration=6']
  const codec = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-g', '50', '-keyint_min', '50', '-c:a', 'aac']
  const hls = ['-f', 'hls', '-hls_time', '2', '-hls_playlist_type', 'vod', '-hls_segment_type', 'fmp4']
  const renditions = [180, 360].flatMap((height) => [
    ...['-map', '0:v', '-map', '1:a', '-vf', `scale=-2:${height}`, ...codec, ...hls],
    ...['-hls_fmp4_init_filename', `${height}-init.mp4`, '-hls_segment_filename', `${height}-%d.m4s`, `${height}.m3u8`],
  ])
  const sound = [
    '-map',
    '1:a',
    '-c:a',
    'aac',
    ...hls,
    '-hls_fmp4_init_filename',
    'sound-init.mp4',
    '-hls_segment_filename',
    'sound-%d.m4s',
    'sound.m3u8',
  ]
  const mp4AndPoster = [
    '-map',
    '0:v',
    '-map',
    '1:a',
    ...codec,
    '-movflags',
    '+faststart',
    'whole.mp4',
    '-map',
    '0:v',
    '-frames:v',
    '1',
    'poster.jpg',
  ]
  const { status, stderr } = spawnSync(ffmpeg, ['-v', 'error', '-y', ...source, ...renditions, ...sound, ...mp4AndPoster], { cwd: folder })
  if (status !== 0) throw new Error(`ffmpeg failed to create the media: ${stderr}`)
  const levels = [
    { height: 180, width: 320, bandwidth: 400_000 },
    { height: 360, width: 640, bandwidth: 900_000 },
  ]
  const lines = levels.map(
    ({ height, width, bandwidth }) =>
      `#EXT-X-STREAM-INF:BANDWIDTH=${bandwidth},RESOLUTION=${width}x${height},CODECS="avc1.42c01f,mp4a.40.2"\n${height}.m3u8\n`,
  )
  writeFileSync(join(folder, 'master.m3u8'), `#EXTM3U\n#EXT-X-VERSION:7\n${lines.join('')}`)
}

/**
 * Creates `tracks.m3u8`: the same renditions with captions in three languages and two audio tracks.
 */
export function addTracks(folder: string): void {
  const cue = 'WEBVTT\n\n00:00.000 --> 00:06.000\nGood evening, this is a line of captions\nand a second one\n'
  writeFileSync(join(folder, 'lines.vtt'), cue)
  const playlist = '#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:6\n#EXT-X-PLAYLIST-TYPE:VOD\n#EXTINF:6.0,\nlines.vtt\n#EXT-X-ENDLIST\n'
  writeFileSync(join(folder, 'lines.m3u8'), playlist)
  const captions = [
    ['English', 'en'],
    ['Deutsch', 'de'],
    ['Français', 'fr'],
  ].map(
    ([name, language]) => `#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="c",NAME="${name}",LANGUAGE="${language}",DEFAULT=NO,URI="lines.m3u8"\n`,
  )
  const sounds = [
    '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES\n',
    '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Deutsch",LANGUAGE="de",CHARACTERISTICS="public.accessibility.describes-video",URI="sound.m3u8"\n',
  ]
  const master = readFileSync(join(folder, 'master.m3u8'), 'utf8').replace(
    '#EXT-X-VERSION:7\n',
    `#EXT-X-VERSION:7\n${captions.join('')}${sounds.join('')}`,
  )
  writeFileSync(join(folder, 'tracks.m3u8'), master.replaceAll(',CODECS=', ',SUBTITLES="c",AUDIO="a",CODECS='))
  writeFileSync(join(folder, 'silent.m3u8'), readFileSync(join(folder, 'master.m3u8'), 'utf8').replaceAll(',mp4a.40.2', ''))
}
