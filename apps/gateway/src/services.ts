import type { Channel, Client } from '@vitascope/grpc'
import { AccessListServiceService } from '@vitascope/proto/auth/v1/access_list'
import { ApiKeyServiceService } from '@vitascope/proto/auth/v1/api_key'
import { OrganisationServiceService } from '@vitascope/proto/auth/v1/organisation'
import { UserServiceService } from '@vitascope/proto/auth/v1/user'
import { IdServiceService } from '@vitascope/proto/catalogue/v1/id'
import { JobServiceService } from '@vitascope/proto/catalogue/v1/job'
import { MediaServiceService } from '@vitascope/proto/catalogue/v1/media'
import { VideoServiceService } from '@vitascope/proto/catalogue/v1/video'
import { JobServiceService as EncodingJobServiceService } from '@vitascope/proto/encoding/v1/job'

/** The services behind the gateway, one client for each noun. */
export interface Services {
  organisations: Client<typeof OrganisationServiceService>
  users: Client<typeof UserServiceService>
  apiKeys: Client<typeof ApiKeyServiceService>
  accessList: Client<typeof AccessListServiceService>
  videos: Client<typeof VideoServiceService>
  media: Client<typeof MediaServiceService>
  jobs: Client<typeof JobServiceService>
  ids: Client<typeof IdServiceService>
  encodingJobs: Client<typeof EncodingJobServiceService>
}

export function connectServices(channels: { auth: Channel; catalogue: Channel; encoding: Channel }): Services {
  return {
    organisations: channels.auth.client(OrganisationServiceService),
    users: channels.auth.client(UserServiceService),
    apiKeys: channels.auth.client(ApiKeyServiceService),
    accessList: channels.auth.client(AccessListServiceService),
    videos: channels.catalogue.client(VideoServiceService),
    media: channels.catalogue.client(MediaServiceService),
    jobs: channels.catalogue.client(JobServiceService),
    ids: channels.catalogue.client(IdServiceService),
    encodingJobs: channels.encoding.client(EncodingJobServiceService),
  }
}
