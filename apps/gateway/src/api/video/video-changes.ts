import { Video } from '@vitascope/proto/catalogue/v1/video'
import { z } from 'zod'
import { type Clash, field } from '../../server/schema/field.ts'
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
  oneOf,
  tag,
  text,
  timestamp,
} from '../../server/schema/fields.ts'
import { VISIBILITIES } from '../shared/visibilities.ts'

const maxJsonBytes = 10_000

export const pixels = (description: string) => clearable(int({ min: 1, max: 8_192 }, { description }))
export const description = text(5_000, {}, { description: 'Description that viewers see.' })
export const descriptionPrivate = text(5_000, {}, { description: 'Internal description of the organisation. Guests cannot read it.' })
export const visibility = oneOf(VISIBILITIES, {
  description:
    '`public`: everyone can find the video. `unlisted`: everyone with its URL can watch it, but guests do not see it in playlists and feeds. ' +
    '`private`: only its organisation sees it, and viewers with a token load its files.',
})
export const tags = list(
  tag(),
  { max: 100, clearable: true },
  { description: 'A tag without white space. Join words with hyphens.', example: ['launch', 'summer-2030'] },
)

const audioLanguage = z.strictObject({
  code: language(),
  title: text(100, {}, { description: 'Name of the language. Defaults to its English name.' }).optional(),
})

/** An object, or only the code. */
const audioLanguageOrCode = field(
  (value) => (typeof value === 'string' && !value.trimStart().startsWith('{') ? { code: value } : value),
  object(audioLanguage),
)

function findDuplicateCodes(items: readonly ({ code?: string } | undefined)[]): Clash[] {
  const codes = items.map((item) => item?.code)
  return codes.flatMap((code, index) =>
    code !== undefined && codes.indexOf(code) < index ? [{ path: [index, 'code'], message: 'must not be repeated' }] : [],
  )
}

const chapter = z.strictObject({
  title: text(100, { min: 1 }, { description: 'Title of the chapter.', example: 'Questions' }),
  start: decimal({ min: 0, max: 86_400 }, { description: 'Start in seconds, rounded to milliseconds.', example: 95.5 }),
})

function findDuplicateStarts(items: readonly ({ start?: number } | undefined)[]): Clash[] {
  const starts = items.map((item) => (item?.start === undefined ? undefined : toMilliseconds(item.start)))
  return starts.flatMap((start, index) =>
    start !== undefined && starts.indexOf(start) < index ? [{ path: [index, 'start'], message: 'must not be repeated' }] : [],
  )
}

const toMilliseconds = (seconds: number) => Math.round(seconds * 1_000)

/** Payload of PUT and PATCH of a video. */
export const videoChanges = z.strictObject({
  video_title: text(255, { min: 1 }, { description: 'Title of this video.' }).optional(),
  media_title: text(255, { min: 1 }, { description: 'Title of the media. All videos of the media share it.' }).optional(),
  description: description.optional(),
  description_private: descriptionPrivate.optional(),
  language: clearable(language({ description: 'Language code. `""` or null clears it.' })).optional(),
  category: text(100, {}, { description: 'Category of the video. Free text.' }).optional(),
  enabled: flag({ description: '`0` hides the video from all callers outside its organisation.' }).optional(),
  visibility: visibility.optional(),
  age_rating: text(20, {}, { description: 'Age rating of the video. Free text.' }).optional(),
  tags: tags.optional(),
  setting_id: idOrNone('player settings profile').optional(),
  theme_id: idOrNone('theme').optional(),
  contact_form_id: idOrNone('contact form').optional(),
  published_width: pixels('Width in pixels. `""` or null selects the width of the source.').optional(),
  published_height: pixels('Height in pixels. `""` or null selects the height of the source.').optional(),
  content_expiry: clearable(
    object(
      z.strictObject({
        time: clearable(timestamp({ description: 'Expiry time in UTC. `""` or null means that the video does not expire.' })).optional(),
        message: text(1_000, {}, { description: 'Message that viewers see after the expiry.' }).optional(),
      }),
    ),
  ).optional(),
  hd: object(
    z.strictObject({
      allow: flag({ description: 'The player offers high definition.' }).optional(),
      auto: flag({ description: 'The player starts in high definition.' }).optional(),
    }),
  ).optional(),
  sharing: object(
    z.strictObject({
      text: text(1_000, {}, { description: 'Text that is used when the video is shared.' }).optional(),
      embed_within_social: flag({ description: 'Allows social networks to play the video inside their pages.' }).optional(),
    }),
  ).optional(),
  location: clearable(
    object(
      z.strictObject({
        country: text(100, {}, { description: 'Country code or name.' }).default(''),
        city: text(100).default(''),
        postcode: text(20).default(''),
        latitude: clearable(decimal({ min: -90, max: 90 }, { description: 'Latitude in degrees.' })).optional(),
        longitude: clearable(decimal({ min: -180, max: 180 }, { description: 'Longitude in degrees.' })).optional(),
      }),
      { description: 'Place where the video was recorded. Replaces the stored place as a whole. null clears it.' },
    ),
  ).optional(),
  languages: list(
    audioLanguageOrCode,
    { max: 100, clearable: true, clashes: findDuplicateCodes },
    { description: 'Audio languages. No language may be repeated. An item may be a language code.' },
  ).optional(),
  chapters: list(
    object(chapter),
    { max: 200, clearable: true, clashes: findDuplicateStarts },
    { description: 'Chapters, in any order. A chapter ends at the start of the next one. Replaces all stored chapters.' },
  ).optional(),
  captions: object(
    z.strictObject({
      show_on_load: text(
        255,
        {},
        {
          description:
            'Captions that are shown at the start. `1` selects the first caption, a language code or a title selects that caption, and `0` ' +
            'selects none. If the value is empty, the player settings profile decides.',
        },
      ).optional(),
    }),
  ).optional(),
  security: object(
    z.strictObject({
      token_required_platform: flag({
        description: '`1`: media files require a token. All videos of the media share this setting.',
      }).optional(),
      allowed_ips: addressList(100).optional(),
    }),
  ).optional(),
  presentation_id: idOrNone('presentation. It must belong to the same organisation').optional(),
  javascript_api: jsonObject(maxJsonBytes, { description: 'Setting for players. The platform only stores it.' }).optional(),
  monetization: jsonObject(maxJsonBytes, { description: 'Setting for players. The platform only stores it.' }).optional(),
  events_triggered_by_click: jsonObject(maxJsonBytes, { description: 'Setting for players. The platform only stores it.' }).optional(),
})

export type VideoChanges = z.output<typeof videoChanges>

/** Mask paths of the catalogue by public path, where they differ. All other fields have one name. */
const MASK_PATHS: Readonly<Record<string, string>> = {
  video_title: 'title',
  javascript_api: 'javascript_api_json',
  monetization: 'monetization_json',
  events_triggered_by_click: 'events_triggered_by_click_json',
  'content_expiry.time': 'content_expiry.expire_time',
  'captions.show_on_load': 'captions_show_on_load',
  'security.token_required_platform': 'token_required',
  'security.allowed_ips': 'allowed_ips',
}

/** Objects whose parts are changed one by one. Null clears such an object as a whole. */
const CHANGED_BY_PART: ReadonlySet<string> = new Set(['content_expiry', 'hd', 'sharing', 'captions', 'security'])

/** The inverse of `MASK_PATHS`, for errors of the catalogue. */
export const publicVideoNames: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(MASK_PATHS).map(([publicPath, maskPath]) => [maskPath, publicPath]),
)

/** Returns the new values, and the mask paths of the fields that were sent. */
export function videoUpdate(videoId: string, changes: VideoChanges): { video: Video; updateMask: string[] } {
  const values: JsonObject = { videoId }
  const updateMask: string[] = []
  for (const [publicPath, value] of listSentFields(toStoredLists(changes))) {
    const path = MASK_PATHS[publicPath] ?? publicPath
    updateMask.push(path)
    setPath(values, path.split('.').map(camelCase), value)
  }
  // The schema and the proto give a field the same type. Null and absent values become the proto defaults.
  return { video: Video.create(values as Partial<Video>), updateMask }
}

/** Returns the changes with the items of lists in the form of the catalogue. */
function toStoredLists(changes: VideoChanges): JsonObject {
  return {
    ...changes,
    languages: changes.languages?.map(withEnglishName),
    chapters: changes.chapters?.map(({ title, start }) => ({ title, startMs: toMilliseconds(start) })),
  }
}

type JsonObject = { [name: string]: unknown }

/** Returns the public path and the value of each field that was sent. */
function listSentFields(changes: JsonObject): [path: string, value: unknown][] {
  return Object.entries(changes).flatMap(([name, value]): [string, unknown][] => {
    if (value === undefined) return []
    if (!CHANGED_BY_PART.has(name) || value === null) return [[name, value]]
    return Object.entries(value).map(([part, inner]) => [`${name}.${part}`, inner])
  })
}

function setPath(values: JsonObject, path: readonly string[], value: unknown): void {
  const [name, part] = path as [string, string | undefined]
  values[name] = part === undefined ? value : { ...(values[name] as JsonObject | undefined), [part]: value }
}

function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

function withEnglishName({ code, title }: { code: string; title?: string | undefined }) {
  return { code, title: title || englishName(code) }
}

/**
 * Returns the English name of a language, without the extensions of its code, which have no name.
 */
function englishName(code: string): string {
  return new Intl.DisplayNames('en', { type: 'language' }).of(new Intl.Locale(code).baseName) ?? code
}
