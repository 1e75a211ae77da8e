import { fileURLToPath } from 'node:url'
import { DomainError } from '@vitascope/errors'
import { type Call, createGrpcServer, openChannel, type Principal, serviceCall, type UserKind } from '@vitascope/grpc'
import { openPostgres } from '@vitascope/postgres'
import { UserServiceService, type UserSummary, UserType } from '@vitascope/proto/auth/v1/user'
import { VideoServiceService } from '@vitascope/proto/catalogue/v1/video'
import { type VideoSummary, VideoSummaryServiceService } from '@vitascope/proto/catalogue/v1/video_summary'
import { ClipServiceService } from '@vitascope/proto/collaboration/v1/clip'
import { EntryServiceService } from '@vitascope/proto/collaboration/v1/entry'
import { GuestReviewServiceService } from '@vitascope/proto/collaboration/v1/guest_review'
import { createMetrics } from '@vitascope/telemetry'
import { createTestDatabase, testLog } from '@vitascope/testing'
import { testKeyFiles, testPrincipals } from '@vitascope/testing/principal-keys'
import { createClipStore } from '../src/entry/clip-store.ts'
import { createEntryStore } from '../src/entry/entry-store.ts'
import { createGuestLinkStore } from '../src/guest/guest-link-store.ts'
import { startCollaboration } from '../src/service.ts'

const MIGRATIONS = fileURLToPath(new URL('../migrations', import.meta.url))

/** Creates the database of a test file and its stores. */
export async function collaborationDatabase() {
  const database = await createTestDatabase({ migrations: MIGRATIONS, schema: 'collaboration' })
  const db = openPostgres({ url: database.url, schema: 'collaboration', log: testLog })
  return {
    url: database.url,
    db,
    entries: createEntryStore(db),
    clips: createClipStore(db),
    links: createGuestLinkStore(db),
    async close() {
      await db.close()
      await database.drop()
    },
  }
}

/** Replaces auth and the catalogue. Their data is in two maps, and every request is recorded. */
export async function startDependencies(listen = '127.0.0.1:0') {
  const server = createGrpcServer({ principals: testPrincipals(), log: testLog, metrics: createMetrics('dependencies') })
  const videos = new Map<string, VideoSummary>()
  const users = new Map<string, UserSummary>()
  const requests: { method: string; ids: readonly string[]; call: Call; remainingMs: number }[] = []
  const addRequest = (method: string, ids: readonly string[], call: Call) =>
    void requests.push({ method, ids, call, remainingMs: (call.deadline?.getTime() ?? Number.POSITIVE_INFINITY) - Date.now() })
  const notImplemented = async (): Promise<never> => {
    throw new DomainError('not_found', 'NOTHING_HERE', 'the test server has no such method')
  }
  const dependencies = {
    address: '',
    videos,
    users,
    /** Received requests, each with the time until its deadline when it arrived. */
    requests,
    /** Each request awaits this function before the response. */
    beforeResponse: async (_call: Call) => {},
    stop: () => server.drain(100),
  }
  server.implement(VideoSummaryServiceService, {
    async listVideoSummaries({ videoIds }, call) {
      addRequest('videos', videoIds, call)
      await dependencies.beforeResponse(call)
      return { summaries: videoIds.flatMap((id) => videos.get(id) ?? []) }
    },
  })
  server.implement(VideoServiceService, {
    async createVideoToken({ videoId, expiresInSeconds }, call) {
      addRequest('token', [videoId, String(expiresInSeconds)], call)
      if (!videos.has(videoId)) throw new DomainError('not_found', 'VIDEO_NOT_FOUND', 'no such video')
      return { token: `token-of-${videoId}`, expireTime: undefined }
    },
    uploadVideo: notImplemented,
    getVideo: notImplemented,
    findPublicVideo: notImplemented,
    async *watchPublicChanges() {
      yield await notImplemented()
    },
    listVideos: notImplemented,
    updateVideo: notImplemented,
    deleteVideo: notImplemented,
  })
  server.implement(UserServiceService, {
    async listUserSummaries({ userIds }, call) {
      addRequest('users', userIds, call)
      await dependencies.beforeResponse(call)
      return { summaries: userIds.flatMap((id) => users.get(id) ?? []) }
    },
    async getUserByEmail({ email }, call) {
      addRequest('email', [email], call)
      const match = [...users.values()].find((user) => user.email.toLowerCase() === email.toLowerCase())
      if (!match) throw new DomainError('not_found', 'USER_NOT_FOUND', 'no such user')
      return {
        user: {
          ...match,
          firstName: '',
          lastName: '',
          status: 'USER_STATUS_ACTIVE',
          telephoneLand: '',
          invitedByUserId: undefined,
          createTime: undefined,
          updateTime: undefined,
        },
      }
    },
    getUser: notImplemented,
    listUsers: notImplemented,
    createUser: notImplemented,
    updateUser: notImplemented,
    deleteUser: notImplemented,
  })
  dependencies.address = await server.listen(listen)
  return dependencies
}

/** Starts the service with its own database and dependencies. */
export async function openFixture() {
  const database = await collaborationDatabase()
  const dependencies = await startDependencies()
  const service = await startCollaboration(
    {
      listen: '127.0.0.1:0',
      metricsListen: '127.0.0.1:0',
      databaseUrl: database.url,
      principalKeys: testKeyFiles('collaboration'),
      authAddress: dependencies.address,
      catalogueAddress: dependencies.address,
    },
    testLog,
  )
  const channel = openChannel(service.address, { service: 'collaboration', principals: testPrincipals() })
  let createdCount = 0
  return {
    ...database,
    service,
    dependencies,
    clients: {
      entries: channel.client(EntryServiceService),
      clips: channel.client(ClipServiceService),
      guestReviews: channel.client(GuestReviewServiceService),
    },
    createVideo(organisationId = '1', duration: number | 'unknown' = 12.48): string {
      const durationSeconds = duration === 'unknown' ? undefined : duration
      const videoId = String(4_611_686_018_427_000_000n + BigInt(++createdCount))
      dependencies.videos.set(videoId, { videoId, organisationId, durationSeconds, texts: undefined, languages: [] })
      return videoId
    },
    createUser(organisationId = '1', userType: UserType = UserType.USER_TYPE_UPLOADER): string {
      const userId = String(++createdCount)
      dependencies.users.set(userId, { userId, organisationId, email: `User${userId}@example.org`, userType })
      return userId
    },
    async close() {
      channel.close()
      await service.stop()
      await dependencies.stop()
      await database.close()
    },
  }
}

/** Returns a call by a user. */
export function as(userType: UserKind, organisationId = '1', more: Partial<Call> = {}): Call {
  return { ...by({ kind: 'user', keyId: '1', userId: '900', organisationId, userType }), ...more }
}

export function by(principal: Principal): Call {
  return { ...serviceCall('test', 'the-request'), principal }
}

/** Returns an idempotency key. Calls with the same key are retries of one request. */
export function repeatable(name: string, fingerprint = 'f') {
  return { idempotency: { key: Buffer.from(name).toString('hex').padEnd(64, '0').slice(0, 64), fingerprint: fingerprint.repeat(64) } }
}
