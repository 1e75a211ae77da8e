import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { get as sendGet } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach } from '@jest/globals'
import { DomainError, notFound } from '@vitascope/errors'
import { createGrpcServer, type GrpcServer } from '@vitascope/grpc'
import {
  GetPlaybackPolicyResponse,
  GetPresentationPolicyResponse,
  PlaybackPolicyServiceService,
} from '@vitascope/proto/catalogue/v1/playback_policy'
import { PreviewPlaylistServiceService } from '@vitascope/proto/encoding/v1/preview_playlist'
import { parseAddressRules } from '@vitascope/security'
import { type ObjectStorage, openFileStorage } from '@vitascope/storage'
import { createMetrics } from '@vitascope/telemetry'
import { testLog, testTokenKeys } from '@vitascope/testing'
import { buildCountryDatabase } from '@vitascope/testing/country-database'
import { testKeyFiles, testPrincipals } from '@vitascope/testing/principal-keys'
import { startDelivery } from '../src/service.ts'

const { tokenKeys, tokenKeysFile } = testTokenKeys()

export { tokenKeys }
export const PLAYLIST = '#EXTM3U\nseg-1.m4s\n'
export const BYTES = Buffer.from(Array.from({ length: 1_000 }, (_, i) => i % 251))

export let storage: ObjectStorage
/** State that tests read and change. */
export const current = {
  /** Host and port of delivery. */
  address: '',
  metricsPort: 0,
  /** Number of the video of this test. */
  video: 100,
  sets: [] as { version: string; prefix: string }[],
  /** The catalogue responds when this promise is settled. */
  catalogueDelay: undefined as Promise<void> | undefined,
  /** Number of requests for the policy of a video. */
  catalogueCalls: 0,
  /** Number of the last segment of job 7. Undefined: encoding does not know the job any more. */
  lastSegment: undefined as number | undefined,
}
/** Tracks whose preview playlists were requested from encoding. */
export const requested: string[] = []
export const policies = new Map<string, Partial<GetPlaybackPolicyResponse>>()
export const presentationPolicies = new Map<string, Partial<GetPresentationPolicyResponse>>()
export const inOneHour = () => new Date(Date.now() + 3_600_000)

/** Runs a delivery with files, and with a catalogue and an encoding service that return the policies and playlists above. */
export function startDeliveryForTests(): void {
  let root: string
  let catalogue: GrpcServer
  let encoding: GrpcServer
  let delivery: Awaited<ReturnType<typeof startDelivery>>

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'delivery-'))
    storage = await openFileStorage({ root })
    await storage.put('media/1/7-1/hls/master.m3u8', Buffer.from(PLAYLIST))
    await storage.put('media/1/7-1/h264_100.mp4', BYTES)
    await storage.put('media/1/7-1/hls/h264_100/index.m3u8', Buffer.from('#EXTM3U all'))
    await storage.put('work/7/3/h264_100/init.mp4', Buffer.from('init'))
    await storage.put('work/7/3/h264_100/seg-00001.m4s', Buffer.from('one'))
    for (const name of ['seg-00002', 'seg-00010']) await storage.put(`work/7/5/h264_100/${name}.m4s`, Buffer.from(name))
    await storage.put('slides/5/8-1/slide-0001.jpg', BYTES)
    await storage.put('slides/5/9-2/slide-0001.jpg', BYTES.subarray(1))
    await storage.put('slides/5/8-1/document.pdf', Buffer.from('%PDF-'))
    await storage.put('secret/file.txt', Buffer.from('not for you'))
    const log = testLog
    catalogue = createGrpcServer({ principals: testPrincipals(), log, metrics: createMetrics('test') })
    catalogue.implement(PlaybackPolicyServiceService, {
      async getPlaybackPolicy({ videoId }) {
        current.catalogueCalls++
        await current.catalogueDelay
        const policy = policies.get(videoId)
        if (!policy) throw notFound('video', videoId)
        return GetPlaybackPolicyResponse.fromPartial(policy)
      },
      async getPresentationPolicy({ presentationId }) {
        const policy = presentationPolicies.get(presentationId)
        if (!policy) throw notFound('presentation', presentationId)
        return GetPresentationPolicyResponse.fromPartial(policy)
      },
    })
    encoding = createGrpcServer({ principals: testPrincipals(), log, metrics: createMetrics('test') })
    const requireLast = (jobId: string) => {
      if (jobId !== '7' || current.lastSegment === undefined) throw new DomainError('not_found', 'PREVIEW_NOT_FOUND', 'nothing')
      return current.lastSegment
    }
    encoding.implement(PreviewPlaylistServiceService, {
      async getPreviewMasterPlaylist({ jobId }) {
        requireLast(jobId)
        return { text: PLAYLIST }
      },
      async getPreviewTrackPlaylist({ jobId, key: track }) {
        requested.push(track)
        const folders = [
          { first: 1, folder: 'work/7/3/h264_100' },
          { first: 2, folder: 'work/7/5/h264_100' },
        ]
        return { playlist: `#EXTM3U ${requireLast(jobId)}`, initObject: 'work/7/3/h264_100/init.mp4', segments: folders }
      },
    })
    const countryDatabaseFile = join(root, 'countries.mmdb')
    await writeFile(countryDatabaseFile, buildCountryDatabase({ '203.0.113.0/24': 'DE', '192.0.2.0/24': 'AT' }))
    delivery = await startDelivery(
      {
        listen: '127.0.0.1:0',
        metricsListen: '127.0.0.1:0',
        catalogueAddress: await catalogue.listen('127.0.0.1:0'),
        encodingAddress: await encoding.listen('127.0.0.1:0'),
        principalKeys: testKeyFiles('delivery'),
        tokenKeysFile,
        countryDatabaseFile,
        objects: { folder: root },
        s3Mode: 'proxy',
        storageReads: 48,
        cacheBytes: 16 * 1024 * 1024,
        publicTrustedProxies: [],
        limits: 'off',
        allowedCrawlers: [],
        outageSeconds: 600,
        downloads: { perAddress: 256, total: 4_096 },
        trustedProxies: parseAddressRules(['127.0.0.1']).rules ?? [],
      },
      log,
    )
    current.address = delivery.address
    current.metricsPort = delivery.metricsPort
  })
  afterAll(async () => {
    await delivery.stop()
    await catalogue.drain()
    await encoding.drain()
    await rm(root, { recursive: true })
  })
  beforeEach(() => {
    // Each test has its own video, because policies are cached for 2 s.
    current.video++
    current.sets = [{ version: 'v1', prefix: 'media/1/7-1' }]
  })
}

/** Returns the status of a path that is sent as it is. `fetch` would resolve dots itself. */
export function getUnresolved(path: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    sendGet(`http://${current.address}`, { path: `/delivery/${path}` }, (response) => {
      response.resume()
      resolve(response.statusCode)
    }).on('error', reject)
  })
}

export function get(path: string, init: RequestInit & { from?: string } = {}): Promise<Response> {
  return fetch(`http://${current.address}/delivery/${path}`, {
    ...init,
    headers: { ...init.headers, ...(init.from && { 'x-forwarded-for': init.from }) },
    redirect: 'manual',
  })
}

/** Gives the video of this test a policy. Returns its id. */
export function addVideo(policy: Partial<GetPlaybackPolicyResponse> = {}): string {
  policies.set(String(current.video), { sets: current.sets, ...policy })
  return String(current.video)
}
