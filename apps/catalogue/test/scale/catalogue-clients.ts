import { isDomainError } from '@vitascope/errors'
import type { Channel, Client, ServiceDefinition } from '@vitascope/grpc'
import { CaptionServiceService } from '@vitascope/proto/catalogue/v1/caption'
import { ContactFormServiceService } from '@vitascope/proto/catalogue/v1/contact_form'
import { DownloadServiceService } from '@vitascope/proto/catalogue/v1/download'
import { EncodingFormatServiceService } from '@vitascope/proto/catalogue/v1/encoding_format'
import { EventServiceService } from '@vitascope/proto/catalogue/v1/event'
import { FolderServiceService } from '@vitascope/proto/catalogue/v1/folder'
import { IdServiceService } from '@vitascope/proto/catalogue/v1/id'
import { JobServiceService } from '@vitascope/proto/catalogue/v1/job'
import { LocationServiceService } from '@vitascope/proto/catalogue/v1/location'
import { MailServiceService } from '@vitascope/proto/catalogue/v1/mail'
import { MediaServiceService } from '@vitascope/proto/catalogue/v1/media'
import { MetadataServiceService } from '@vitascope/proto/catalogue/v1/metadata'
import { OrganisationReplicaServiceService } from '@vitascope/proto/catalogue/v1/organisation_replica'
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
import { VideoSummaryServiceService } from '@vitascope/proto/catalogue/v1/video_summary'
import { WebhookServiceService } from '@vitascope/proto/catalogue/v1/webhook'

/** All gRPC services of the catalogue; `scale.test.ts` compares them with the protos. */
export const services = {
  captions: CaptionServiceService,
  contactForms: ContactFormServiceService,
  policies: PlaybackPolicyServiceService,
  encodingFormats: EncodingFormatServiceService,
  events: EventServiceService,
  folders: FolderServiceService,
  ids: IdServiceService,
  jobs: JobServiceService,
  locations: LocationServiceService,
  mails: MailServiceService,
  media: MediaServiceService,
  metadata: MetadataServiceService,
  organisationReplica: OrganisationReplicaServiceService,
  overlays: OverlayServiceService,
  downloads: DownloadServiceService,
  playbackKeys: PlaybackKeyServiceService,
  playbackRules: PlaybackRulesServiceService,
  playbackSessions: PlaybackSessionServiceService,
  playlists: PlaylistServiceService,
  posters: PosterServiceService,
  presentations: PresentationServiceService,
  quotas: QuotaServiceService,
  security: SecurityServiceService,
  settings: SettingServiceService,
  tags: TagServiceService,
  themes: ThemeServiceService,
  videoSummaries: VideoSummaryServiceService,
  publicVideos: PublicVideoServiceService,
  videos: VideoServiceService,
  webhooks: WebhookServiceService,
}

export type CatalogueClients = { [K in keyof typeof services]: Client<(typeof services)[K]> }

/** Creates clients of all services. `called` collects the paths of the calls made through them. */
export function openClients(channel: Channel): { clients: CatalogueClients; called: Set<string> } {
  const called = new Set<string>()
  const createRecordingClient = (definition: ServiceDefinition) => {
    const client = channel.client(definition) as Record<string, (...input: unknown[]) => unknown>
    return Object.fromEntries(
      Object.entries(definition).map(([name, { path }]) => [
        name,
        (...input: unknown[]) => {
          called.add(path)
          const send = () => client[name]?.(...input)
          const result = send()
          return result instanceof Promise ? repeatLate(result, send) : result
        },
      ]),
    )
  }
  const call = Object.fromEntries(Object.entries(services).map(([name, definition]) => [name, createRecordingClient(definition)]))
  // Each name has the client of its own definition.
  return { clients: call as unknown as CatalogueClients, called }
}

const MAX_REPEATS = 10

/** Repeats a call that a busy machine did not answer within its deadline, or for which it opened no connection in time. */
async function repeatLate(result: Promise<unknown>, send: () => unknown, repeats = 0): Promise<unknown> {
  try {
    return await result
  } catch (error) {
    const isLate = isDomainError(error) && (error.reason === 'DEADLINE_EXCEEDED' || error.kind === 'unavailable')
    if (!isLate || repeats === MAX_REPEATS) throw error
    return repeatLate(Promise.resolve(send()), send, repeats + 1)
  }
}

export function allPaths(): string[] {
  return Object.values(services).flatMap((definition) => Object.values(definition as ServiceDefinition).map(({ path }) => path))
}
