import { eventRoutes } from './analytics/event-routes.ts'
import { exportRoutes } from './analytics/export-routes.ts'
import { insightRoutes } from './analytics/insight-routes.ts'
import { reportRoutes } from './analytics/report-routes.ts'
import { apiKeyRoutes } from './api-key/api-key-routes.ts'
import { auditRoutes } from './audit/audit-routes.ts'
import { captionRoutes } from './caption/caption-routes.ts'
import { clipRoutes } from './collaborate/clip-routes.ts'
import { entryRoutes } from './collaborate/entry-routes.ts'
import { contactFormRoutes } from './contact-form/contact-form-routes.ts'
import { embedRoutes } from './embed/embed-routes.ts'
import { encodingFormatRoutes } from './encoding-format/encoding-format-routes.ts'
import { folderRoutes } from './folder/folder-routes.ts'
import { idRoutes } from './id/id-routes.ts'
import { jobRoutes } from './job/job-routes.ts'
import { locationRoutes } from './location/location-routes.ts'
import { mediaRoutes } from './media/media-routes.ts'
import { metadataRoutes } from './metadata/metadata-routes.ts'
import { organisationRoutes } from './organisation/organisation-routes.ts'
import { overlayRoutes } from './overlay/overlay-routes.ts'
import { playlistRoutes } from './playlist/playlist-routes.ts'
import { presentationRoutes } from './presentation/presentation-routes.ts'
import { queueJobRoutes } from './queue-job/queue-job-routes.ts'
import type { Route } from './route.ts'
import { securityRoutes } from './security/security-routes.ts'
import { settingRoutes } from './setting/setting-routes.ts'
import { tagRoutes } from './tag/tag-routes.ts'
import { themeRoutes } from './theme/theme-routes.ts'
import { thirdPartyTokenRoutes } from './third-party-token/third-party-token-routes.ts'
import { tusRoutes } from './upload/tus-routes.ts'
import { uploadRoutes } from './upload/upload-routes.ts'
import { userRoutes } from './user/user-routes.ts'
import { videoPasswordRoutes } from './video/video-password-routes.ts'
import { videoRoutes } from './video/video-routes.ts'
import { webhookRoutes } from './webhook/webhook-routes.ts'

/** Everything that the gateway answers below `/v2`; what is not here does not exist. */
export const routes: readonly Route[] = [
  ...apiKeyRoutes,
  ...thirdPartyTokenRoutes,
  ...auditRoutes,
  ...videoRoutes,
  ...mediaRoutes,
  ...metadataRoutes,
  ...tagRoutes,
  ...folderRoutes,
  ...userRoutes,
  ...organisationRoutes,
  ...encodingFormatRoutes,
  ...idRoutes,
  ...jobRoutes,
  ...settingRoutes,
  ...themeRoutes,
  ...videoPasswordRoutes,
  ...securityRoutes,
  ...playlistRoutes,
  ...embedRoutes,
  ...captionRoutes,
  ...overlayRoutes,
  ...locationRoutes,
  ...presentationRoutes,
  ...contactFormRoutes,
  ...webhookRoutes,
  ...entryRoutes,
  ...clipRoutes,
  ...queueJobRoutes,
  ...uploadRoutes,
  ...tusRoutes,
  ...reportRoutes,
  ...insightRoutes,
  ...exportRoutes,
  ...eventRoutes,
]
