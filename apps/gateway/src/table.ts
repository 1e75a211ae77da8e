import { cmcdRoutes } from './api/analytics/cmcd-routes.ts'
import { dimensionRoutes } from './api/analytics/dimension-routes.ts'
import { downloadReportRoutes } from './api/analytics/download-report-routes.ts'
import { eventRoutes } from './api/analytics/event-routes.ts'
import { exportRoutes } from './api/analytics/export-routes.ts'
import { insightRoutes } from './api/analytics/insight-routes.ts'
import { reportRoutes } from './api/analytics/report-routes.ts'
import { sessionRoutes } from './api/analytics/session-routes.ts'
import { apiKeyRoutes } from './api/api-key/api-key-routes.ts'
import { auditRoutes } from './api/audit/audit-routes.ts'
import { captionRoutes } from './api/caption/caption-routes.ts'
import { clipRoutes } from './api/collaborate/clip-routes.ts'
import { entryRoutes } from './api/collaborate/entry-routes.ts'
import { guestReviewRoutes } from './api/collaborate/guest-review-routes.ts'
import { contactFormRoutes } from './api/contact-form/contact-form-routes.ts'
import { embedRoutes } from './api/embed/embed-routes.ts'
import { encodingFormatRoutes } from './api/encoding-format/encoding-format-routes.ts'
import { failoverRoutes } from './api/failover/failover-routes.ts'
import { folderRoutes } from './api/folder/folder-routes.ts'
import { idRoutes } from './api/id/id-routes.ts'
import { jobRoutes } from './api/job/job-routes.ts'
import { locationRoutes } from './api/location/location-routes.ts'
import { mediaRoutes } from './api/media/media-routes.ts'
import { metadataRoutes } from './api/metadata/metadata-routes.ts'
import { organisationRoutes } from './api/organisation/organisation-routes.ts'
import { overlayRoutes } from './api/overlay/overlay-routes.ts'
import { passkeyRoutes } from './api/passkey/passkey-routes.ts'
import { playlistRoutes } from './api/playlist/playlist-routes.ts'
import { presentationRoutes } from './api/presentation/presentation-routes.ts'
import { queueJobRoutes } from './api/queue-job/queue-job-routes.ts'
import { playbackKeyRoutes } from './api/security/playback-key-routes.ts'
import { playbackRuleRoutes } from './api/security/playback-rule-routes.ts'
import { playbackSessionRoutes } from './api/security/playback-session-routes.ts'
import { securityRoutes } from './api/security/security-routes.ts'
import { oidcRoutes } from './api/session/oidc-routes.ts'
import { passkeySignInRoutes } from './api/session/passkey-sign-in-routes.ts'
import { userSessionRoutes } from './api/session/session-routes.ts'
import { signInLinkRoutes } from './api/session/sign-in-link-routes.ts'
import { signInSettingsRoutes } from './api/session/sign-in-settings-routes.ts'
import { settingRoutes } from './api/setting/setting-routes.ts'
import { tagRoutes } from './api/tag/tag-routes.ts'
import { themeRoutes } from './api/theme/theme-routes.ts'
import { thirdPartyTokenRoutes } from './api/third-party-token/third-party-token-routes.ts'
import { ticketRoutes } from './api/upload/ticket-routes.ts'
import { tusRoutes } from './api/upload/tus-routes.ts'
import { uploadRoutes } from './api/upload/upload-routes.ts'
import { userRoutes } from './api/user/user-routes.ts'
import { downloadRoutes } from './api/video/download-routes.ts'
import { posterRoutes } from './api/video/poster-routes.ts'
import { videoPasswordRoutes } from './api/video/video-password-routes.ts'
import { videoRoutes } from './api/video/video-routes.ts'
import { webhookRoutes } from './api/webhook/webhook-routes.ts'
import { workerRoutes } from './api/worker/worker-routes.ts'
import type { Route } from './server/route/route.ts'

/** All routes below `/v2`. */
export const routes: readonly Route[] = [
  ...userSessionRoutes,
  ...signInLinkRoutes,
  ...oidcRoutes,
  ...passkeySignInRoutes,
  ...signInSettingsRoutes,
  ...passkeyRoutes,
  ...apiKeyRoutes,
  ...thirdPartyTokenRoutes,
  ...auditRoutes,
  ...videoRoutes,
  ...downloadRoutes,
  ...posterRoutes,
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
  ...playbackKeyRoutes,
  ...playbackRuleRoutes,
  ...playbackSessionRoutes,
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
  ...guestReviewRoutes,
  ...queueJobRoutes,
  ...workerRoutes,
  ...failoverRoutes,
  ...uploadRoutes,
  ...tusRoutes,
  ...ticketRoutes,
  ...reportRoutes,
  ...insightRoutes,
  ...dimensionRoutes,
  ...downloadReportRoutes,
  ...exportRoutes,
  ...eventRoutes,
  ...cmcdRoutes,
  ...sessionRoutes,
]
