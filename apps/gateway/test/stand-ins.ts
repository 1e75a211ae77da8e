import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DomainError } from '@vitascope/errors'
import { type Call, createGrpcServer, type GrpcServer, type Handlers, type ServiceDefinition, type UserKind } from '@vitascope/grpc'
import { EventServiceService } from '@vitascope/proto/analytics/v1/event'
import { ExportServiceService } from '@vitascope/proto/analytics/v1/export'
import { InsightServiceService } from '@vitascope/proto/analytics/v1/insight'
import { ReportServiceService } from '@vitascope/proto/analytics/v1/report'
import { ViewSessionServiceService } from '@vitascope/proto/analytics/v1/view_session'
import { AccessListServiceService } from '@vitascope/proto/auth/v1/access_list'
import { ApiKeyServiceService, AuthenticateResponse } from '@vitascope/proto/auth/v1/api_key'
import { type AuditEntry, type AuditOutcome, AuditServiceService } from '@vitascope/proto/auth/v1/audit'
import { OidcServiceService } from '@vitascope/proto/auth/v1/oidc'
import { OrganisationServiceService } from '@vitascope/proto/auth/v1/organisation'
import { PasskeyServiceService } from '@vitascope/proto/auth/v1/passkey'
import { SessionServiceService } from '@vitascope/proto/auth/v1/session'
import { SignInLinkServiceService } from '@vitascope/proto/auth/v1/sign_in_link'
import { ThirdPartyTokenServiceService } from '@vitascope/proto/auth/v1/third_party_token'
import { UserServiceService, UserType } from '@vitascope/proto/auth/v1/user'
import { CaptionServiceService } from '@vitascope/proto/catalogue/v1/caption'
import { ContactFormServiceService } from '@vitascope/proto/catalogue/v1/contact_form'
import { DownloadServiceService } from '@vitascope/proto/catalogue/v1/download'
import { EncodingFormatServiceService } from '@vitascope/proto/catalogue/v1/encoding_format'
import { FolderServiceService } from '@vitascope/proto/catalogue/v1/folder'
import { IdServiceService } from '@vitascope/proto/catalogue/v1/id'
import { JobServiceService } from '@vitascope/proto/catalogue/v1/job'
import { LocationServiceService } from '@vitascope/proto/catalogue/v1/location'
import { MediaServiceService } from '@vitascope/proto/catalogue/v1/media'
import { MetadataServiceService } from '@vitascope/proto/catalogue/v1/metadata'
import { OverlayServiceService } from '@vitascope/proto/catalogue/v1/overlay'
import { PlaybackKeyServiceService } from '@vitascope/proto/catalogue/v1/playback_key'
import { PlaybackRulesServiceService } from '@vitascope/proto/catalogue/v1/playback_rules'
import { PlaybackSessionServiceService } from '@vitascope/proto/catalogue/v1/playback_session'
import { PlaylistServiceService } from '@vitascope/proto/catalogue/v1/playlist'
import { PosterServiceService } from '@vitascope/proto/catalogue/v1/poster'
import { PresentationServiceService } from '@vitascope/proto/catalogue/v1/presentation'
import { PublicVideoServiceService } from '@vitascope/proto/catalogue/v1/public_video'
import { QuotaServiceService } from '@vitascope/proto/catalogue/v1/quota'
import { SecurityServiceService } from '@vitascope/proto/catalogue/v1/security'
import { SettingServiceService } from '@vitascope/proto/catalogue/v1/setting'
import { TagServiceService } from '@vitascope/proto/catalogue/v1/tag'
import { ThemeServiceService } from '@vitascope/proto/catalogue/v1/theme'
import { VideoServiceService } from '@vitascope/proto/catalogue/v1/video'
import { WebhookServiceService } from '@vitascope/proto/catalogue/v1/webhook'
import { ClipServiceService } from '@vitascope/proto/collaboration/v1/clip'
import { EntryServiceService } from '@vitascope/proto/collaboration/v1/entry'
import { GuestReviewServiceService } from '@vitascope/proto/collaboration/v1/guest_review'
import { JobServiceService as EncodingJobServiceService } from '@vitascope/proto/encoding/v1/job'
import { QueueJobServiceService } from '@vitascope/proto/encoding/v1/queue_job'
import { UploadServiceService } from '@vitascope/proto/encoding/v1/upload'
import { WorkerServiceService } from '@vitascope/proto/encoding/v1/worker'
import { FailoverServiceService } from '@vitascope/proto/service/v1/failover'
import { createMetrics } from '@vitascope/telemetry'
import { testLog } from '@vitascope/testing'
import { testPrincipals } from '@vitascope/testing/principal-keys'
import { checksum } from '../src/server/access/key-form.ts'

/** A key that the replacement of auth knows. */
export interface StandInKey {
  keyId: string
  userType: UserKind
  organisationId: string
  resources: readonly string[]
  expireTime?: Date
}

/**
 * Replaces auth, catalogue and encoding for tests of the gateway: one gRPC server with a few
 * methods. All other methods return not found.
 */
export interface StandIns {
  address: string
  keys: Map<string, StandInKey>
  /** Keys that were looked up, in order. */
  lookups: string[]
  /** Appended audit log entries, per call. */
  audit: { entries: AuditEntry[]; outcomes: AuditOutcome[] }[]
  /** Runs before the response of an append; throwing fails the call. */
  beforeAppend: () => Promise<void>
  /** Resources that the gateway registered last. */
  registered: string[]
  /** Response of `NextId`. */
  nextId: (call: Call) => Promise<string>
  /** Notifies the gateways of revoked keys. Without ids, it ends their streams. */
  revoke: (...keyIds: string[]) => void
  /** Number of subscribed gateways. */
  watchers: () => number
  /** While set, key look-ups fail with this error. */
  authFailure: Error | undefined
  stop(): Promise<void>
}

const TYPES = { uploader: UserType.USER_TYPE_UPLOADER, standard: UserType.USER_TYPE_STANDARD, system: UserType.USER_TYPE_SYSTEM }

export async function startStandIns(listen = '127.0.0.1:0'): Promise<StandIns> {
  const server: GrpcServer = createGrpcServer({ principals: testPrincipals(), log: testLog, metrics: createMetrics('stand-ins') })
  const watchers = new Set<{ ids: string[][]; wake: () => void; ended: boolean }>()
  const standIns: StandIns = {
    address: '',
    keys: new Map(),
    lookups: [],
    audit: [],
    beforeAppend: async () => {},
    registered: [],
    nextId: async () => '7',
    authFailure: undefined,
    watchers: () => watchers.size,
    revoke(...keyIds) {
      for (const watcher of watchers) {
        if (keyIds.length === 0) watcher.ended = true
        else watcher.ids.push(keyIds)
        watcher.wake()
      }
    },
    stop: () => server.drain(100),
  }
  server.implement(ApiKeyServiceService, {
    ...respondNotFound(ApiKeyServiceService),
    async authenticate({ key }) {
      if (standIns.authFailure) throw standIns.authFailure
      standIns.lookups.push(key)
      const known = standIns.keys.get(key)
      if (!known) throw new DomainError('unauthenticated', 'KEY_UNKNOWN', 'unknown key')
      const { keyId, userType, organisationId, resources, expireTime } = known
      return AuthenticateResponse.fromPartial({
        apiKeyId: keyId,
        userId: `9${keyId}`,
        organisationId,
        userType: TYPES[userType],
        resources: [...resources],
        ...(expireTime && { expireTime }),
      })
    },
    async *watchRevocations(_request, { signal }) {
      const watcher = { ids: [[]] as string[][], wake: () => {}, ended: false }
      watchers.add(watcher)
      signal.addEventListener('abort', () => watcher.wake(), { once: true })
      try {
        while (!watcher.ended && !signal.aborted) {
          for (const apiKeyIds of watcher.ids.splice(0)) yield { apiKeyIds }
          if (watcher.ended || signal.aborted || watcher.ids.length > 0) continue
          await new Promise<void>((resolve) => {
            watcher.wake = resolve
          })
        }
      } finally {
        watchers.delete(watcher)
      }
    },
  })
  server.implement(AccessListServiceService, {
    ...respondNotFound(AccessListServiceService),
    async registerResources({ resources }) {
      standIns.registered = resources.map(({ name }) => name)
      return {}
    },
  })
  server.implement(AuditServiceService, {
    ...respondNotFound(AuditServiceService),
    async appendEntries(request) {
      await standIns.beforeAppend()
      standIns.audit.push(request)
      return {}
    },
  })
  const nextId = async (_request: unknown, call: Call) => ({ id: await standIns.nextId(call) })
  server.implement(IdServiceService, { ...respondNotFound(IdServiceService), nextId })
  for (const service of OTHER_SERVICES) server.implement(service, respondNotFound(service))
  standIns.address = await server.listen(listen)
  return standIns
}

const OTHER_SERVICES: readonly ServiceDefinition[] = [
  OrganisationServiceService,
  ThirdPartyTokenServiceService,
  UserServiceService,
  VideoServiceService,
  PublicVideoServiceService,
  MediaServiceService,
  JobServiceService,
  EncodingJobServiceService,
  MetadataServiceService,
  TagServiceService,
  EncodingFormatServiceService,
  FolderServiceService,
  CaptionServiceService,
  ContactFormServiceService,
  LocationServiceService,
  OverlayServiceService,
  PlaylistServiceService,
  PosterServiceService,
  PresentationServiceService,
  SettingServiceService,
  ThemeServiceService,
  SecurityServiceService,
  DownloadServiceService,
  PlaybackKeyServiceService,
  SessionServiceService,
  SignInLinkServiceService,
  OidcServiceService,
  PasskeyServiceService,
  PlaybackSessionServiceService,
  PlaybackRulesServiceService,
  EntryServiceService,
  ClipServiceService,
  GuestReviewServiceService,
  QueueJobServiceService,
  UploadServiceService,
  WorkerServiceService,
  FailoverServiceService,
  QuotaServiceService,
  WebhookServiceService,
  EventServiceService,
  ReportServiceService,
  InsightServiceService,
  ExportServiceService,
  ViewSessionServiceService,
]

function respondNotFound<S extends ServiceDefinition>(service: S): Handlers<S> {
  const reject = () => {
    throw new DomainError('not_found', 'NOTHING_HERE', 'the replacement has no data')
  }
  const unary = async () => reject()
  const stream = async function* () {
    yield reject()
  }
  // Defines every method of the service. No method returns a response, so the response types are
  // not required.
  return Object.fromEntries(
    Object.entries(service).map(([method, { responseStream }]) => [method, responseStream ? stream : unary]),
  ) as unknown as Handlers<S>
}

let keyCount = 0

/** Returns a key in the valid format. */
export function nextApiKey(): string {
  const random = String(++keyCount).padStart(32, 'k')
  return `vs_${random}${checksum(random)}`
}

/** Starts an HTTP server that replaces delivery. */
export async function startOrigin(respond: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer(respond)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
