import { notFound } from '@vitascope/errors'
import { createGrpcServer } from '@vitascope/grpc'
import { GetPlaybackPolicyResponse, PlaybackPolicyServiceService } from '@vitascope/proto/catalogue/v1/playback_policy'
import type { TokenKeys } from '@vitascope/security'
import { openS3Storage } from '@vitascope/storage'
import { createMetrics } from '@vitascope/telemetry'
import { startS3, type TestS3, testLog, testTokenKeys } from '@vitascope/testing'
import { testKeyFiles, testPrincipals } from '@vitascope/testing/principal-keys'
import type { DeliveryConfig } from '../src/config.ts'
import { startDelivery } from '../src/service.ts'

/** A delivery with the objects of an S3 store, and a catalogue that returns the policies of a test. */
export interface BucketDelivery {
  store: TestS3
  /** `HOST:PORT` of the address that gateways use. */
  address: string
  tokenKeys: TokenKeys
  stop(): Promise<void>
}

export interface BucketDeliveryOptions {
  /** Objects by name. */
  objects: Readonly<Record<string, Buffer>>
  /** Policies by video id. Changes apply to later requests of delivery. */
  policies: Readonly<Record<string, Partial<GetPlaybackPolicyResponse>>>
  config: Partial<DeliveryConfig>
}

/** Starts the store, the catalogue and delivery; requires `s3Path()`. */
export async function startBucketDelivery({ objects, policies, config }: BucketDeliveryOptions): Promise<BucketDelivery> {
  const store = await startS3()
  const storage = openS3Storage(store)
  for (const [name, bytes] of Object.entries(objects)) await storage.put(name, bytes)
  const catalogue = createGrpcServer({ principals: testPrincipals(), log: testLog, metrics: createMetrics('test') })
  catalogue.implement(PlaybackPolicyServiceService, {
    async getPlaybackPolicy({ videoId }) {
      const policy = policies[videoId]
      if (!policy) throw notFound('video', videoId)
      return GetPlaybackPolicyResponse.fromPartial(policy)
    },
    async getPresentationPolicy({ presentationId }) {
      throw notFound('presentation', presentationId)
    },
  })
  const { tokenKeys, tokenKeysFile } = testTokenKeys()
  const { endpoint, region, bucket, accessKeyId, secretAccessKey } = store
  const delivery = await startDelivery(
    {
      listen: '127.0.0.1:0',
      metricsListen: '127.0.0.1:0',
      catalogueAddress: await catalogue.listen('127.0.0.1:0'),
      encodingAddress: '127.0.0.1:1',
      principalKeys: testKeyFiles('delivery'),
      tokenKeysFile,
      objects: { s3: { endpoint, region, bucket, accessKeyId, secretAccessKey, virtualHost: false } },
      s3Mode: 'proxy',
      storageReads: 48,
      cacheBytes: 1024 * 1024,
      publicTrustedProxies: [],
      limits: 'off',
      allowedCrawlers: [],
      outageSeconds: 600,
      downloads: { perAddress: 256, total: 4_096 },
      trustedProxies: [],
      ...config,
    },
    testLog,
  )
  return {
    store,
    address: delivery.address,
    tokenKeys,
    async stop() {
      await delivery.stop()
      await catalogue.drain()
      await store.stop()
    },
  }
}
