import type { Texts } from './english.ts'
import { administrationTexts } from './german/administration.ts'
import { analyticsTexts } from './german/analytics.ts'
import { libraryTexts } from './german/library.ts'
import { passkeyTexts } from './german/passkeys.ts'
import { presentationTexts } from './german/presentation.ts'
import { profileTexts } from './german/profiles.ts'
import { reviewTexts } from './german/review.ts'
import { shellTexts } from './german/shell.ts'
import { systemTexts } from './german/system.ts'
import { videoTexts } from './german/video.ts'

export const german: Texts = {
  ...shellTexts,
  ...libraryTexts,
  ...videoTexts,
  ...reviewTexts,
  ...presentationTexts,
  ...profileTexts,
  ...administrationTexts,
  ...analyticsTexts,
  ...systemTexts,
  ...passkeyTexts,
}
