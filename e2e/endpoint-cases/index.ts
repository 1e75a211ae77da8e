import type { NounRows } from '../support/table-row.ts'
import { analyticsRows } from './analytics.ts'
import { analyticsDimensionRows } from './analytics-dimension.ts'
import { analyticsMinuteRows } from './analytics-minutes.ts'
import { apiKeyRows } from './api-key.ts'
import { auditRows } from './audit.ts'
import { captionRows } from './caption.ts'
import { collaborateRows } from './collaborate.ts'
import { contactFormRows } from './contact-form.ts'
import { downloadRows } from './download.ts'
import { embedRows } from './embed.ts'
import { encodingFormatRows } from './encoding-format.ts'
import { failoverRows } from './failover.ts'
import { folderRows } from './folder.ts'
import { idRows } from './id.ts'
import { jobRows } from './job.ts'
import { locationRows } from './location.ts'
import { mediaRows } from './media.ts'
import { metadataRows } from './metadata.ts'
import { oauthRows } from './oauth.ts'
import { organisationRows } from './organisation.ts'
import { overlayRows } from './overlay.ts'
import { passkeyRows } from './passkey.ts'
import { playbackKeyRows } from './playback-keys.ts'
import { playbackRuleRows } from './playback-rules.ts'
import { playbackSessionRows } from './playback-sessions.ts'
import { playlistRows } from './playlist.ts'
import { posterRows } from './poster.ts'
import { presentationRows } from './presentation.ts'
import { queueJobRows } from './queue-job.ts'
import { securityRows } from './security.ts'
import { settingRows } from './setting.ts'
import { tagRows } from './tag.ts'
import { themeRows } from './theme.ts'
import { ticketRows } from './ticket.ts'
import { tusRows } from './tus.ts'
import { uploadRows } from './upload.ts'
import { userRows } from './user.ts'
import { userSessionRows } from './user-session.ts'
import { videoRows } from './video.ts'
import { videoPasswordRows } from './video-password.ts'
import { viewSessionRows } from './view-session.ts'
import { webhookRows } from './webhook.ts'
import { workerRows } from './worker.ts'

/** The endpoint cases, one file per noun. */
export const nouns: readonly NounRows[] = [
  apiKeyRows,
  oauthRows,
  auditRows,
  userRows,
  organisationRows,
  userSessionRows,
  videoRows,
  mediaRows,
  jobRows,
  idRows,
  metadataRows,
  tagRows,
  folderRows,
  captionRows,
  downloadRows,
  posterRows,
  embedRows,
  playlistRows,
  queueJobRows,
  workerRows,
  failoverRows,
  settingRows,
  themeRows,
  videoPasswordRows,
  securityRows,
  playbackKeyRows,
  playbackRuleRows,
  playbackSessionRows,
  overlayRows,
  contactFormRows,
  collaborateRows,
  locationRows,
  presentationRows,
  webhookRows,
  uploadRows,
  ticketRows,
  tusRows,
  encodingFormatRows,
  analyticsRows,
  analyticsDimensionRows,
  analyticsMinuteRows,
  viewSessionRows,
  passkeyRows,
]
