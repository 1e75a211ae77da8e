import type { Channel, Client } from '@vitascope/grpc'
import { EventServiceService } from '@vitascope/proto/analytics/v1/event'
import { ExportServiceService } from '@vitascope/proto/analytics/v1/export'
import { InsightServiceService } from '@vitascope/proto/analytics/v1/insight'
import { ReportServiceService } from '@vitascope/proto/analytics/v1/report'
import { ViewSessionServiceService } from '@vitascope/proto/analytics/v1/view_session'
import { AccessListServiceService } from '@vitascope/proto/auth/v1/access_list'
import { ApiKeyServiceService } from '@vitascope/proto/auth/v1/api_key'
import { AuditServiceService } from '@vitascope/proto/auth/v1/audit'
import { OidcServiceService } from '@vitascope/proto/auth/v1/oidc'
import { OrganisationServiceService } from '@vitascope/proto/auth/v1/organisation'
import { PasskeyServiceService } from '@vitascope/proto/auth/v1/passkey'
import { SessionServiceService } from '@vitascope/proto/auth/v1/session'
import { SignInLinkServiceService } from '@vitascope/proto/auth/v1/sign_in_link'
import { ThirdPartyTokenServiceService } from '@vitascope/proto/auth/v1/third_party_token'
import { UserServiceService } from '@vitascope/proto/auth/v1/user'
import { CaptionServiceService } from '@vitascope/proto/catalogue/v1/caption'
import { ContactFormServiceService } from '@vitascope/proto/catalogue/v1/contact_form'
import { DownloadServiceService } from '@vitascope/proto/catalogue/v1/download'
import { EncodingFormatServiceService } from '@vitascope/proto/catalogue/v1/encoding_format'
import { EventServiceService as CatalogueEventServiceService } from '@vitascope/proto/catalogue/v1/event'
import { FolderServiceService } from '@vitascope/proto/catalogue/v1/folder'
import { IdServiceService } from '@vitascope/proto/catalogue/v1/id'
import { JobServiceService } from '@vitascope/proto/catalogue/v1/job'
import { LocationServiceService } from '@vitascope/proto/catalogue/v1/location'
import { MediaServiceService } from '@vitascope/proto/catalogue/v1/media'
import { MetadataServiceService } from '@vitascope/proto/catalogue/v1/metadata'
import { OverlayServiceService } from '@vitascope/proto/catalogue/v1/overlay'
import { PlaybackKeyServiceService } from '@vitascope/proto/catalogue/v1/playback_key'
import { PlaybackPolicyServiceService } from '@vitascope/proto/catalogue/v1/playback_policy'
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
import type { Metrics } from '@vitascope/telemetry'
import { createEventSender, type EventSender } from './event-sender.ts'
import { createReportQueue, type ReportQueue } from './report-queue.ts'

/** The services behind the gateway, one client per noun. */
export interface Services {
  organisations: Client<typeof OrganisationServiceService>
  users: Client<typeof UserServiceService>
  apiKeys: Client<typeof ApiKeyServiceService>
  accessList: Client<typeof AccessListServiceService>
  thirdPartyTokens: Client<typeof ThirdPartyTokenServiceService>
  audit: Client<typeof AuditServiceService>
  videos: Client<typeof VideoServiceService>
  publicVideos: Client<typeof PublicVideoServiceService>
  media: Client<typeof MediaServiceService>
  jobs: Client<typeof JobServiceService>
  ids: Client<typeof IdServiceService>
  settings: Client<typeof SettingServiceService>
  themes: Client<typeof ThemeServiceService>
  security: Client<typeof SecurityServiceService>
  downloads: Client<typeof DownloadServiceService>
  playbackKeys: Client<typeof PlaybackKeyServiceService>
  sessions: Client<typeof SessionServiceService>
  signInLinks: Client<typeof SignInLinkServiceService>
  oidc: Client<typeof OidcServiceService>
  passkeys: Client<typeof PasskeyServiceService>
  playbackPolicies: Client<typeof PlaybackPolicyServiceService>
  playbackRules: Client<typeof PlaybackRulesServiceService>
  playbackSessions: Client<typeof PlaybackSessionServiceService>
  metadata: Client<typeof MetadataServiceService>
  tags: Client<typeof TagServiceService>
  folders: Client<typeof FolderServiceService>
  playlists: Client<typeof PlaylistServiceService>
  captions: Client<typeof CaptionServiceService>
  overlays: Client<typeof OverlayServiceService>
  contactForms: Client<typeof ContactFormServiceService>
  locations: Client<typeof LocationServiceService>
  posters: Client<typeof PosterServiceService>
  presentations: Client<typeof PresentationServiceService>
  quotas: Client<typeof QuotaServiceService>
  events: Client<typeof CatalogueEventServiceService>
  encodingFormats: Client<typeof EncodingFormatServiceService>
  webhooks: Client<typeof WebhookServiceService>
  entries: Client<typeof EntryServiceService>
  clips: Client<typeof ClipServiceService>
  guestReviews: Client<typeof GuestReviewServiceService>
  encodingJobs: Client<typeof EncodingJobServiceService>
  queueJobs: Client<typeof QueueJobServiceService>
  uploads: Client<typeof UploadServiceService>
  workers: Client<typeof WorkerServiceService>
  analyticsEvents: EventSender
  reports: Client<typeof ReportServiceService>
  reportQueue: ReportQueue
  insights: Client<typeof InsightServiceService>
  viewSessions: Client<typeof ViewSessionServiceService>
  exports: Client<typeof ExportServiceService>
  /** Every service with a database lists its failovers. */
  failovers: Record<keyof Channels, Client<typeof FailoverServiceService>>
}

/** gRPC channels to the services. */
export type Channels = Record<'auth' | 'catalogue' | 'encoding' | 'collaboration' | 'analytics', Channel>

export function connectServices(channels: Channels, metrics: Metrics): Services {
  return {
    organisations: channels.auth.client(OrganisationServiceService),
    users: channels.auth.client(UserServiceService),
    apiKeys: channels.auth.client(ApiKeyServiceService),
    accessList: channels.auth.client(AccessListServiceService),
    thirdPartyTokens: channels.auth.client(ThirdPartyTokenServiceService),
    audit: channels.auth.client(AuditServiceService),
    videos: channels.catalogue.client(VideoServiceService),
    publicVideos: channels.catalogue.client(PublicVideoServiceService),
    media: channels.catalogue.client(MediaServiceService),
    jobs: channels.catalogue.client(JobServiceService),
    ids: channels.catalogue.client(IdServiceService),
    settings: channels.catalogue.client(SettingServiceService),
    themes: channels.catalogue.client(ThemeServiceService),
    security: channels.catalogue.client(SecurityServiceService),
    downloads: channels.catalogue.client(DownloadServiceService),
    playbackKeys: channels.catalogue.client(PlaybackKeyServiceService),
    sessions: channels.auth.client(SessionServiceService),
    signInLinks: channels.auth.client(SignInLinkServiceService),
    oidc: channels.auth.client(OidcServiceService),
    passkeys: channels.auth.client(PasskeyServiceService),
    playbackPolicies: channels.catalogue.client(PlaybackPolicyServiceService),
    playbackRules: channels.catalogue.client(PlaybackRulesServiceService),
    playbackSessions: channels.catalogue.client(PlaybackSessionServiceService),
    metadata: channels.catalogue.client(MetadataServiceService),
    tags: channels.catalogue.client(TagServiceService),
    folders: channels.catalogue.client(FolderServiceService),
    playlists: channels.catalogue.client(PlaylistServiceService),
    captions: channels.catalogue.client(CaptionServiceService),
    overlays: channels.catalogue.client(OverlayServiceService),
    contactForms: channels.catalogue.client(ContactFormServiceService),
    locations: channels.catalogue.client(LocationServiceService),
    quotas: channels.catalogue.client(QuotaServiceService),
    posters: channels.catalogue.client(PosterServiceService),
    presentations: channels.catalogue.client(PresentationServiceService),
    events: channels.catalogue.client(CatalogueEventServiceService),
    encodingFormats: channels.catalogue.client(EncodingFormatServiceService),
    webhooks: channels.catalogue.client(WebhookServiceService),
    entries: channels.collaboration.client(EntryServiceService),
    clips: channels.collaboration.client(ClipServiceService),
    guestReviews: channels.collaboration.client(GuestReviewServiceService),
    encodingJobs: channels.encoding.client(EncodingJobServiceService),
    queueJobs: channels.encoding.client(QueueJobServiceService),
    uploads: channels.encoding.client(UploadServiceService),
    workers: channels.encoding.client(WorkerServiceService),
    analyticsEvents: createEventSender(channels.analytics.client(EventServiceService), metrics),
    reports: channels.analytics.client(ReportServiceService),
    reportQueue: createReportQueue(),
    insights: channels.analytics.client(InsightServiceService),
    viewSessions: channels.analytics.client(ViewSessionServiceService),
    exports: channels.analytics.client(ExportServiceService),
    failovers: {
      auth: channels.auth.client(FailoverServiceService),
      catalogue: channels.catalogue.client(FailoverServiceService),
      encoding: channels.encoding.client(FailoverServiceService),
      collaboration: channels.collaboration.client(FailoverServiceService),
      analytics: channels.analytics.client(FailoverServiceService),
    },
  }
}
