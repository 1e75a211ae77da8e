import { ContentExpiry, Hd, Location, Sharing, Video } from '@vitascope/proto/catalogue/v1/video'
import { z } from 'zod'
import { type Clash, field } from '../field.ts'
import {
  addressList,
  clearable,
  decimal,
  flag,
  idOrNone,
  int,
  jsonObject,
  language,
  list,
  object,
  tag,
  text,
  timestamp,
} from '../fields.ts'

const jsonBytes = 10_000

export const pixels = (description: string) => clearable(int({ min: 1, max: 8_192 }, { description }))
export const description = text(5_000, {}, { description: 'For viewers.' })
export const descriptionPrivate = text(5_000, {}, { description: 'For the organisation: guests never see it.' })
export const tags = list(
  tag(),
  { max: 100, clearable: true },
  { description: 'Without white space: words are joined by hyphens.', example: ['launch', 'summer-2030'] },
)

const spoken = z.strictObject({
  code: language(),
  title: text(100, {}, { description: 'Its name; left out, the English one.' }).optional(),
})

/** An object, or the code alone. */
const spokenLanguage = field(
  (value) => (typeof value === 'string' && !value.trimStart().startsWith('{') ? { code: value } : value),
  object(spoken),
)

function twice(items: readonly ({ code?: string } | undefined)[]): Clash[] {
  const codes = items.map((item) => item?.code)
  return codes.flatMap((code, index) =>
    code !== undefined && codes.indexOf(code) < index ? [{ path: [index, 'code'], message: 'must be there once' }] : [],
  )
}

/** What PUT and PATCH of a video take. */
export const videoChanges = z.strictObject({
  video_title: text(255, { min: 1 }, { description: 'Title of this publish.' }).optional(),
  media_title: text(255, { min: 1 }, { description: 'Title of the media, for all its publishes.' }).optional(),
  description: description.optional(),
  description_private: descriptionPrivate.optional(),
  language: clearable(language({ description: 'Language code; `""` or null for none.' })).optional(),
  category: text(100, {}, { description: 'Free text.' }).optional(),
  enabled: flag({ description: '0 hides it from everybody but its organisation.' }).optional(),
  age_rating: text(20, {}, { description: 'Free text.' }).optional(),
  tags: tags.optional(),
  setting_id: idOrNone('player settings profile').optional(),
  theme_id: idOrNone('theme').optional(),
  contact_form_id: idOrNone('contact form').optional(),
  published_width: pixels('Pixels; `""` or null for the source’s.').optional(),
  published_height: pixels('Pixels; `""` or null for the source’s.').optional(),
  content_expiry: clearable(
    object(
      z.strictObject({
        time: clearable(timestamp({ description: 'UTC; from then on it is not found. `""` or null for never.' })).optional(),
        message: text(1_000, {}, { description: 'What viewers read afterwards.' }).optional(),
      }),
    ),
  ).optional(),
  hd: object(
    z.strictObject({
      allow: flag({ description: 'Offers high definition.' }).optional(),
      auto: flag({ description: 'Starts with it.' }).optional(),
    }),
  ).optional(),
  sharing: object(
    z.strictObject({
      text: text(1_000, {}, { description: 'Text for sharing.' }).optional(),
      embed_within_social: flag({ description: 'Whether social sites may play it in place.' }).optional(),
    }),
  ).optional(),
  location: clearable(
    object(
      z.strictObject({
        country: text(100, {}, { description: 'Code or name.' }).default(''),
        city: text(100).default(''),
        postcode: text(20).default(''),
        latitude: clearable(decimal({ min: -90, max: 90 }, { description: 'Degrees.' })).optional(),
        longitude: clearable(decimal({ min: -180, max: 180 }, { description: 'Degrees.' })).optional(),
      }),
      { description: 'Given as a whole; null if unknown.' },
    ),
  ).optional(),
  languages: list(
    spokenLanguage,
    { max: 100, clearable: true, clashes: twice },
    { description: 'Of the sound, each once; an item may be the code alone.' },
  ).optional(),
  captions: object(
    z.strictObject({
      show_on_load: text(
        255,
        {},
        {
          description:
            'Which captions show at the start: `1` the first, a language code or a title those, `0` none; empty as the profile says.',
        },
      ).optional(),
    }),
  ).optional(),
  security: object(
    z.strictObject({
      token_required_platform: flag({
        description: '1: its files are had with a token only; one flag of the media and all its publishes.',
      }).optional(),
      allowed_ips: addressList(100).optional(),
    }),
  ).optional(),
  presentation_id: idOrNone('presentation: of the same organisation').optional(),
  javascript_api: jsonObject(jsonBytes, { description: 'For players.' }).optional(),
  monetization: jsonObject(jsonBytes, { description: 'For players.' }).optional(),
  events_triggered_by_click: jsonObject(jsonBytes, { description: 'For players.' }).optional(),
})

export type VideoChanges = z.output<typeof videoChanges>

/** The new values, and the names of those that were sent, as the catalogue knows them. */
export function videoUpdate(videoId: string, sent: VideoChanges): { video: Video; updateMask: string[] } {
  const video = Video.create({
    videoId,
    title: sent.video_title ?? '',
    mediaTitle: sent.media_title ?? '',
    description: sent.description ?? '',
    descriptionPrivate: sent.description_private ?? '',
    language: sent.language ?? '',
    category: sent.category ?? '',
    enabled: sent.enabled ?? false,
    ageRating: sent.age_rating ?? '',
    tags: sent.tags ?? [],
    settingId: sent.setting_id ?? '',
    themeId: sent.theme_id ?? '',
    contactFormId: sent.contact_form_id ?? '',
    publishedWidth: sent.published_width ?? undefined,
    publishedHeight: sent.published_height ?? undefined,
    hd: Hd.create({ allow: sent.hd?.allow ?? false, auto: sent.hd?.auto ?? false }),
    sharing: Sharing.create({ text: sent.sharing?.text ?? '', embedWithinSocial: sent.sharing?.embed_within_social ?? false }),
    languages: (sent.languages ?? []).map(({ code, title }) => ({ code, title: title || englishName(code) })),
    captionsShowOnLoad: sent.captions?.show_on_load ?? '',
    tokenRequired: sent.security?.token_required_platform ?? false,
    allowedIps: sent.security?.allowed_ips ?? [],
    presentationId: sent.presentation_id ?? '',
    javascriptApiJson: sent.javascript_api ?? '',
    monetizationJson: sent.monetization ?? '',
    eventsTriggeredByClickJson: sent.events_triggered_by_click ?? '',
  })
  if (sent.content_expiry) {
    video.contentExpiry = ContentExpiry.create({
      message: sent.content_expiry.message ?? '',
      expireTime: sent.content_expiry.time ?? undefined,
    })
  }
  if (sent.location) {
    const { latitude, longitude, ...names } = sent.location
    video.location = Location.create({ ...names, latitude: latitude ?? undefined, longitude: longitude ?? undefined })
  }
  return { video, updateMask: maskOf(sent) }
}

/** Mask names of the fields that a caller knows by another one, and of those whose parts are named one by one. */
const maskNames: Readonly<Record<string, string | Readonly<Record<string, string>>>> = {
  video_title: 'title',
  javascript_api: 'javascript_api_json',
  monetization: 'monetization_json',
  events_triggered_by_click: 'events_triggered_by_click_json',
  content_expiry: { time: 'content_expiry.expire_time', message: 'content_expiry.message' },
  hd: { allow: 'hd.allow', auto: 'hd.auto' },
  sharing: { text: 'sharing.text', embed_within_social: 'sharing.embed_within_social' },
  captions: { show_on_load: 'captions_show_on_load' },
  security: { token_required_platform: 'token_required', allowed_ips: 'allowed_ips' },
}

/** The same the other way round: for refusals of the catalogue. */
export const publicVideoNames: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(maskNames).flatMap(([name, inner]) =>
    typeof inner === 'string' ? [[inner, name]] : Object.entries(inner).map(([part, path]) => [path, `${name}.${part}`]),
  ),
)

function maskOf(sent: VideoChanges): string[] {
  return Object.entries(sent).flatMap(([name, value]) => {
    const inner = maskNames[name] ?? name
    if (typeof inner === 'string') return [inner]
    // Sent as null it is emptied as a whole.
    return typeof value === 'object' && value !== null ? Object.keys(value).flatMap((part) => inner[part] ?? []) : [name]
  })
}

/** Extensions of a code have no name. */
function englishName(code: string): string {
  return new Intl.DisplayNames('en', { type: 'language' }).of(new Intl.Locale(code).baseName) ?? code
}
