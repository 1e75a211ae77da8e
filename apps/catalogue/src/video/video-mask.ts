import { type FieldError, invalid } from '@vitascope/errors'
import type { ContentExpiry, VideoFields } from './video.ts'
import { checkVideoFields, distinct } from './video-checks.ts'

/** Mask paths that set a whole field. */
const WHOLE = new Map<string, keyof VideoFields>([
  ['title', 'title'],
  ['media_title', 'mediaTitle'],
  ['description', 'description'],
  ['description_private', 'descriptionPrivate'],
  ['language', 'language'],
  ['category', 'category'],
  ['published_width', 'publishedWidth'],
  ['published_height', 'publishedHeight'],
  ['enabled', 'enabled'],
  ['age_rating', 'ageRating'],
  ['tags', 'tags'],
  ['content_expiry', 'contentExpiry'],
  ['sharing', 'sharing'],
  ['languages', 'languages'],
  ['hd', 'hd'],
  ['location', 'location'],
  ['captions_show_on_load', 'captionsShowOnLoad'],
  ['javascript_api_json', 'javascriptApiJson'],
  ['monetization_json', 'monetizationJson'],
  ['events_triggered_by_click_json', 'eventsTriggeredByClickJson'],
  ['presentation_id', 'presentationId'],
  ['setting_id', 'settingId'],
  ['theme_id', 'themeId'],
  ['contact_form_id', 'contactFormId'],
  ['token_required', 'tokenRequired'],
  ['allowed_ips', 'allowedIps'],
])

type Merge = (now: VideoFields, given: VideoFields) => Partial<VideoFields>

/** Mask paths that set a part of a field. */
const PARTS = new Map<string, [keyof VideoFields, Merge]>([
  [
    'content_expiry.expire_time',
    ['contentExpiry', (now, given) => expiry({ ...expiryOf(now), expireTime: given.contentExpiry?.expireTime })],
  ],
  ['content_expiry.message', ['contentExpiry', (now, given) => expiry({ ...expiryOf(now), message: expiryOf(given).message })]],
  ['sharing.text', ['sharing', (now, given) => ({ sharing: { ...now.sharing, text: given.sharing.text } })]],
  [
    'sharing.embed_within_social',
    ['sharing', (now, given) => ({ sharing: { ...now.sharing, embedWithinSocial: given.sharing.embedWithinSocial } })],
  ],
  ['hd.allow', ['hd', (now, given) => ({ hd: { ...now.hd, allow: given.hd.allow } })]],
  ['hd.auto', ['hd', (now, given) => ({ hd: { ...now.hd, auto: given.hd.auto } })]],
])

/** Returns the fields with the masked ones replaced by those of `given`. Throws `invalid` with every invalid field. */
export function mergeFields(now: VideoFields, given: VideoFields, mask: readonly string[]): VideoFields {
  const touched = new Set<keyof VideoFields>()
  const unknown: FieldError[] = []
  let merged = now
  for (const path of mask) {
    const whole = WHOLE.get(path)
    const part = PARTS.get(path)
    if (whole) merged = { ...merged, [whole]: given[whole] }
    else if (part) merged = { ...merged, ...part[1](merged, given) }
    else unknown.push({ field: 'update_mask', message: `names no field: ${path.slice(0, 100)}` })
    const key = whole ?? part?.[0]
    if (key) touched.add(key)
  }
  const problems = [...unknown, ...checkVideoFields(merged, touched)]
  if (problems.length > 0) throw invalid(problems)
  return { ...merged, tags: distinct(merged.tags), allowedIps: distinct(merged.allowedIps.map((rule) => rule.trim())) }
}

function expiryOf({ contentExpiry }: VideoFields): ContentExpiry {
  return contentExpiry ?? { expireTime: undefined, message: '' }
}

function expiry(contentExpiry: ContentExpiry): Partial<VideoFields> {
  return { contentExpiry }
}
