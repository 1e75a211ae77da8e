import { administrationTexts } from './english/administration.ts'
import type { analyticsTexts } from './english/analytics.ts'
import type { chapterTexts } from './english/chapters.ts'
import type { csvTexts } from './english/csv.ts'
import { errorTexts } from './english/errors.ts'
import type { folderTexts } from './english/folders.ts'
import type { formTexts } from './english/forms.ts'
import type { keyTexts } from './english/keys.ts'
import { libraryTexts } from './english/library.ts'
import type { metadataTexts } from './english/metadata.ts'
import type { overlayTexts } from './english/overlays.ts'
import type { passkeyTexts } from './english/passkeys.ts'
import type { presentationTexts } from './english/presentation.ts'
import type { profileTexts } from './english/profiles.ts'
import type { reviewTexts } from './english/review.ts'
import { shellTexts } from './english/shell.ts'
import { systemTexts } from './english/system.ts'
import type { systemPageTexts } from './english/system-pages.ts'
import { videoTexts } from './english/video.ts'
import type { webhookTexts } from './english/webhooks.ts'

/** The texts that every page loads. `addEnglish` adds those of some pages, to shorten the first load. */
export const english = {
  ...shellTexts,
  ...errorTexts,
  ...libraryTexts,
  ...videoTexts,
  ...administrationTexts,
  ...systemTexts,
}

/** All texts. */
export type English = typeof english & LazyTexts
type LazyTexts = typeof csvTexts &
  typeof chapterTexts &
  typeof metadataTexts &
  typeof overlayTexts &
  typeof passkeyTexts &
  typeof presentationTexts &
  typeof analyticsTexts &
  typeof profileTexts &
  typeof folderTexts &
  typeof formTexts &
  typeof keyTexts &
  typeof reviewTexts &
  typeof systemPageTexts &
  typeof webhookTexts

/** A translation has the same texts. Plural forms depend on the language. */
type Translated<T> = { [K in keyof T]: T[K] extends string ? string : Translated<T[K]> }
export type Texts = Translated<English>
