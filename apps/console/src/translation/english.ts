import { administrationTexts } from './english/administration.ts'
import { analyticsTexts } from './english/analytics.ts'
import { libraryTexts } from './english/library.ts'
import { passkeyTexts } from './english/passkeys.ts'
import { presentationTexts } from './english/presentation.ts'
import { profileTexts } from './english/profiles.ts'
import { reviewTexts } from './english/review.ts'
import { shellTexts } from './english/shell.ts'
import { systemTexts } from './english/system.ts'
import { videoTexts } from './english/video.ts'

/** All texts of the console. */
export const english = {
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

/** A translation has the same texts. Plural forms depend on the language. */
type Translated<T> = { [K in keyof T]: T[K] extends string ? string : Translated<T[K]> }
export type Texts = Translated<typeof english>
