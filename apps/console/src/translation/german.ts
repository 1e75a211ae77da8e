import type { Texts } from './english.ts'
import { administrationTexts } from './german/administration.ts'
import { analyticsTexts } from './german/analytics.ts'
import { csvTexts } from './german/csv.ts'
import { errorTexts } from './german/errors.ts'
import { folderTexts } from './german/folders.ts'
import { formTexts } from './german/forms.ts'
import { keyTexts } from './german/keys.ts'
import { libraryTexts } from './german/library.ts'
import { passkeyTexts } from './german/passkeys.ts'
import { presentationTexts } from './german/presentation.ts'
import { profileTexts } from './german/profiles.ts'
import { reviewTexts } from './german/review.ts'
import { shellTexts } from './german/shell.ts'
import { systemTexts } from './german/system.ts'
import { videoTexts } from './german/video.ts'
import { webhookTexts } from './german/webhooks.ts'

export { fieldRules } from './german/field-rules.ts'

export const german: Texts = {
  ...shellTexts,
  ...errorTexts,
  ...libraryTexts,
  ...csvTexts,
  ...videoTexts,
  ...reviewTexts,
  ...presentationTexts,
  ...profileTexts,
  ...administrationTexts,
  ...folderTexts,
  ...formTexts,
  ...keyTexts,
  ...webhookTexts,
  ...analyticsTexts,
  ...systemTexts,
  ...passkeyTexts,
}
