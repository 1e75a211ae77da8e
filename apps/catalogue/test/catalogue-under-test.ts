import { afterAll, beforeAll } from '@jest/globals'
import { type Call, openChannel, type Principal, serviceCall } from '@vitascope/grpc'
import { IdServiceService } from '@vitascope/proto/catalogue/v1/id'
import { JobServiceService, type ReportJobRequest } from '@vitascope/proto/catalogue/v1/job'
import { MediaServiceService } from '@vitascope/proto/catalogue/v1/media'
import { OrganisationReplicaServiceService } from '@vitascope/proto/catalogue/v1/organisation_replica'
import { PlaybackPolicyServiceService } from '@vitascope/proto/catalogue/v1/playback_policy'
import { UploadVideoRequest, Video, VideoServiceService } from '@vitascope/proto/catalogue/v1/video'
import type { RunningGrpcService } from '@vitascope/service'
import { freePort, testLog, testTokenKeys } from '@vitascope/testing'
import { testPrincipals } from '@vitascope/testing/principal-keys'
import { startCatalogue } from '../src/service.ts'
import { buildRenditionSet } from './builders.ts'
import { type CatalogueDatabase, catalogueDatabase } from './catalogue-database.ts'
import { serviceConfig } from './service-config.ts'
import { authStandIn, encodingStandIn } from './stand-ins.ts'

/** The service under test, with fakes of the other services. */
export interface Fixture {
  database: CatalogueDatabase
  service: RunningGrpcService
  encoding: ReturnType<typeof encodingStandIn>
  auth: Awaited<ReturnType<typeof authStandIn>>
  clients: ReturnType<typeof openClients>
}

const { tokenKeys, tokenKeysFile } = testTokenKeys()

export { tokenKeys }

const toCall = (principal: Principal): Call => ({ ...serviceCall('test', 'r'), principal })
export const user = (organisationId: string, userType: 'uploader' | 'standard' | 'system' = 'uploader') =>
  toCall({ kind: 'user', keyId: '3', userId: `7${organisationId}`, organisationId, userType })
export const owner = user('1')
export const foreignCaller = user('2')
export const system = user('1', 'system')
export const guest = toCall({ kind: 'guest' })
export const internal = serviceCall('encoding', 'r')

/** Starts one service for all tests of a file. Call it at the top of the file. Call the returned `now` in `beforeAll` or later. */
export function catalogueUnderTest() {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await build()
  })
  afterAll(async () => {
    fixture.clients.close()
    await fixture.service.stop()
    await fixture.encoding.stop()
    await fixture.auth.stop()
    await fixture.database.close()
  })

  const upload = (more: Partial<UploadVideoRequest> = {}, call = owner) =>
    fixture.clients.videos.uploadVideo(
      UploadVideoRequest.fromPartial({ organisationId: '1', sourceUrl: 'https://example.org/launch.mp4', notify: true, ...more }),
      call,
    )
  const report = (jobId: string, revision: number, update: ReportJobRequest['update']) =>
    fixture.clients.jobs.reportJob({ jobId, revision, update }, internal)
  const publish = (jobId: string, revision = 100) =>
    report(jobId, revision, { $case: 'published', value: { renditions: buildRenditionSet(jobId) } })
  return {
    now: () => fixture,
    upload,
    report,
    publish,
    async play(more: Partial<UploadVideoRequest> = {}) {
      const accepted = await upload(more)
      await publish(accepted.jobId)
      return accepted
    },
    update: (videoId: string, fields: Partial<Video>, updateMask: string[], call = owner) =>
      fixture.clients.videos.updateVideo({ video: Video.fromPartial({ ...fields, videoId }), updateMask }, call),
  }
}

async function build(): Promise<Fixture> {
  const database = await catalogueDatabase()
  const auth = await authStandIn()
  const encoding = encodingStandIn(`127.0.0.1:${await freePort()}`)
  await encoding.start()
  const service = await startCatalogue(
    serviceConfig({
      databaseUrl: database.url,
      tokenKeysFile,
      encodingAddress: encoding.address,
      authAddress: auth.address,
      sourceAllow: ['127.0.0.0/8'],
    }),
    testLog,
  )
  return { database, service, encoding, auth, clients: openClients(service.address) }
}

function openClients(address: string) {
  const channel = openChannel(address, { service: 'catalogue', principals: testPrincipals() })
  return {
    videos: channel.client(VideoServiceService),
    media: channel.client(MediaServiceService),
    jobs: channel.client(JobServiceService),
    policies: channel.client(PlaybackPolicyServiceService),
    organisationReplica: channel.client(OrganisationReplicaServiceService),
    ids: channel.client(IdServiceService),
    close: () => channel.close(),
  }
}
