import type { Db } from '@vitascope/postgres'
import { buildRenditionSet } from '../builders.ts'
import { copyRows, type Value } from './copy-rows.ts'
import { makeWords, type Words } from './words.ts'

export interface SeedSize {
  videos: number
  /** Number of organisations, with ids from 1. Videos are assigned to them in turn. */
  organisations: number
}

export interface SeedOptions extends SeedSize {
  seed?: number
  /** Called with a line for each table. */
  report?: (line: string) => void
}

const STATES = { ok: [100, 2000], failed: [40, 4002], encoding: [50, 2], waiting: [0, 1] } as const
const PLACES = [
  ['NL', 'Amsterdam'],
  ['NL', 'Utrecht'],
  ['DE', 'Berlin'],
  ['DE', 'Köln'],
  ['GB', 'London'],
  ['FR', 'Paris'],
  ['US', 'New York'],
] as const
const FIRST_TIME = Date.UTC(2023, 0, 1)
/** Ids of the creator and of the last editor. */
const USER_IDS = ['7', '7'] as const

/** Fills an empty catalogue with data of all kinds by COPY, with all triggers. */
export async function seedCatalogue(db: Db, { videos, organisations, seed = 1, report = () => {} }: SeedOptions): Promise<void> {
  const size = { videos, organisations }
  const words = makeWords(seed)
  const fill = async (table: string, columns: string, rows: Iterable<readonly Value[]>) => {
    const start = performance.now()
    const count = await copyRows(db, table, columns.trim().split(/,\s*/), rows)
    report(`${table}: ${count} rows in ${((performance.now() - start) / 1_000).toFixed(1)} s`)
  }
  await fill(
    'organisation',
    'organisation_id, revision, active',
    generateRows(organisations, (index) => [index + 1, 1, true]),
  )
  await fill('media', MEDIA_COLUMNS, mediaRows(size, makeWords(seed)))
  await fill('video', VIDEO_COLUMNS, videoRows(size, makeWords(seed)))
  await fill('job', JOB_COLUMNS, jobRows(size))
  await fill('metadata_entry', 'video_id, name, value, private, read_only', metadataRows(size, words))
  await fill('folder', 'organisation_id, name, description, created_by_user_id, last_modified_by_user_id', folderRows(size))
  await fill('folder_video', 'folder_id, video_id, organisation_id', folderVideoRows(size))
  await fill('playlist', PLAYLIST_COLUMNS, playlistRows(size, words))
  await fill('playlist_video', 'playlist_id, position, video_id', playlistVideoRows(size))
  await fill('caption', CAPTION_COLUMNS, captionRows(size, words))
  await fillCaptionSearch(db)
  await fill('caption_line', 'caption_id, begin_ms, end_ms, text', captionLineRows(size, words))
  await fill('overlay', OVERLAY_COLUMNS, overlayRows(size, words))
  await fill('contact_form', FORM_COLUMNS, formRows(size))
  await fill('contact_form_submission', 'contact_form_id, video_id, name, company_name, email, opt_in', submissionRows(size))
  await fill('presentation', 'presentation_id, organisation_id, user_id, video_id, title, description', presentationRows(size, words))
}

/** Fills the caption search index of all media. The catalogue does this in a background loop. */
async function fillCaptionSearch(db: Db): Promise<void> {
  await db.query(
    `insert into caption_search (media_id, organisation_id, words) select distinct media_id, organisation_id, ''::tsvector from caption`,
  )
  await db.query('select count(update_caption_search(media_id)) from (select distinct media_id from caption_change) as changed')
}

// Ids look random, as in production.
export const toVideoId = (index: number) => scatterId(2 * index + 1)
export const toMediaId = (index: number) => scatterId(2 * index)
export const toPlaylistId = (index: number) => scatterId(2_000_000_000 + index)
export const toPresentationId = (index: number) => scatterId(4_000_000_000 + index)
export const toOrganisation = (index: number, { organisations }: SeedSize) => 1 + (index % organisations)
/** Number of folders per organisation. The first one contains a quarter of its videos. */
export const FOLDERS = 20
/** Number of playlists per organisation. */
const PLAYLISTS = 40
/** Number of contact forms per organisation. */
const FORMS = 3
/** Every 50th media has captions. */
const CAPTION_INTERVAL = 50

/** Returns a unique id that looks random: multiplication by an odd factor is a bijection modulo 2^63. */
function scatterId(index: number): string {
  return ((BigInt(index + 1) * 0x5851f42d4c957f2dn) & 0x7fffffffffffffffn).toString()
}

function toState(index: number): keyof typeof STATES {
  const permille = (index * 7919) % 1_000
  if (permille < 970) return 'ok'
  return permille < 985 ? 'failed' : permille < 995 ? 'encoding' : 'waiting'
}

const toTime = (index: number) => new Date(FIRST_TIME + index * 90_000)
const toTitle = (words: Words) => {
  const title = words.words(words.randomInt(2, 7))
  return title.slice(0, 1).toUpperCase() + title.slice(1) + (words.random() < 0.2 ? ` ${words.randomInt(1, 2_030)}` : '')
}

function* generateRows(count: number, row: (index: number) => readonly Value[]): Generator<readonly Value[]> {
  for (let index = 0; index < count; index++) yield row(index)
}

/** Yields `count` rows for each organisation. */
function* generateRowsPerOrganisation(
  { organisations }: SeedSize,
  count: number,
  row: (organisation: number, index: number) => readonly Value[],
) {
  for (let organisation = 1; organisation <= organisations; organisation++) {
    for (let index = 0; index < count; index++) yield row(organisation, index)
  }
}

const MEDIA_COLUMNS = `media_id, organisation_id, title, original_filename, state, progress, code, renditions, set_job_id, create_time`

function mediaRows(size: SeedSize, words: Words) {
  return generateRows(size.videos, (index) => {
    const state = toState(index)
    const [progress, code] = STATES[state]
    const set: Value = state === 'ok' ? { json: buildRenditionSet(String(index + 1)) } : null
    const organisation = toOrganisation(index, size)
    return [toMediaId(index), organisation, toTitle(words), `f${index}.mp4`, state, progress, code, set, set && index + 1, toTime(index)]
  })
}

const VIDEO_COLUMNS = `video_id, media_id, organisation_id, title, description, description_private, language, category, enabled, age_rating,
  tags, expire_message, sharing_text, embed_within_social, languages, hd_allow, hd_auto, location, captions_show_on_load,
  javascript_api_json, monetization_json, events_triggered_by_click_json, presentation_id, setting_id, theme_id, contact_form_id,
  allowed_ips, creator_id, last_modified_by_id, create_time, delivery_version`

function videoRows(size: SeedSize, words: Words) {
  const { random, randomInt } = words
  const tag = () => `${words.word()}-${1 + Math.floor(40 * random() ** 3)}`
  return generateRows(size.videos, (index) => {
    const tags = [...new Set(Array.from({ length: randomInt(0, 5) }, (_, n) => (n === 0 && random() < 0.3 ? 'featured' : tag())))]
    const [country, city] = PLACES[Math.floor(PLACES.length * random() ** 2)] ?? PLACES[0]
    const location: Value = random() < 0.4 ? { json: { country, city, postcode: '' } } : null
    const texts = [toTitle(words), words.words(randomInt(5, 60)), random() < 0.2 ? words.words(8) : '', 'en', '']
    const relatedIds = ['', random() < 0.1 ? '1' : '', random() < 0.1 ? '1' : '', random() < 0.05 ? '1' : '']
    return [
      ...[toVideoId(index), toMediaId(index), toOrganisation(index, size)],
      ...texts,
      ...[index % 40 !== 39, '', tags, '', '', false, { json: [] }, true, false, location, '', '', '', ''],
      ...relatedIds,
      ...[[], ...USER_IDS, toTime(index), toState(index) === 'ok' ? `v${index}` : ''],
    ]
  })
}

const JOB_COLUMNS = `video_id, media_id, organisation_id, action, state, progress, source_url, notify, user_id, create_time, check_time`

function jobRows(size: SeedSize) {
  const states = { ok: 'ok', failed: 'failed', encoding: 'running', waiting: 'queued' } as const
  return generateRows(size.videos, (index) => {
    const ids = [toVideoId(index), toMediaId(index), toOrganisation(index, size)]
    const state = toState(index)
    // The job has just reported, so the reconciler does not check it.
    return [...ids, 'new_video', states[state], STATES[state][0], 'https://example.org/a.mp4', true, '7', toTime(index), new Date()]
  })
}

function* metadataRows({ videos }: SeedSize, words: Words) {
  for (let index = 0; index < videos; index += 10) {
    yield [toVideoId(index), 'episode', words.word(), false, false]
    yield [toVideoId(index), 'rights', words.words(3), true, false]
  }
}

function folderRows(size: SeedSize) {
  return generateRowsPerOrganisation(size, FOLDERS, (organisation, index) => [organisation, `Folder ${index}`, '', ...USER_IDS])
}

function* folderVideoRows(size: SeedSize) {
  const videosPerOrganisation = Math.floor(size.videos / size.organisations)
  for (let organisation = 1; organisation <= size.organisations; organisation++) {
    for (let nth = 0; nth < videosPerOrganisation; nth++) {
      const folder = nth % 4 === 0 ? 0 : 1 + (nth % (FOLDERS - 1))
      yield [(organisation - 1) * FOLDERS + folder + 1, toVideoId(nth * size.organisations + organisation - 1), organisation]
    }
  }
}

const PLAYLIST_COLUMNS = `playlist_id, organisation_id, playlist_type, title, description, monetization_url, randomise, video_limit,
  open_in_playlist_view, settings, monetization_json, created_by_user_id`

function playlistRows(size: SeedSize, words: Words) {
  return generateRowsPerOrganisation(size, PLAYLISTS, (organisation, index) => {
    const id = toPlaylistId((organisation - 1) * PLAYLISTS + index)
    return [id, organisation, 'standard', toTitle(words), '', '', false, 0, false, '', '', '7']
  })
}

function* playlistVideoRows(size: SeedSize) {
  for (let playlist = 0; playlist < size.organisations * PLAYLISTS; playlist++) {
    const organisation = Math.floor(playlist / PLAYLISTS)
    for (let position = 0; position < 12; position++) {
      const index = ((playlist + position * 31) % Math.floor(size.videos / size.organisations)) * size.organisations + organisation
      yield [toPlaylistId(playlist), position, toVideoId(index)]
    }
  }
}

const CAPTION_COLUMNS = 'media_id, organisation_id, title, language, created_by_user_id, last_modified_by_user_id, plain_text'

function* captionRows(size: SeedSize, words: Words) {
  for (let index = 0; index < size.videos; index += CAPTION_INTERVAL) {
    yield [toMediaId(index), toOrganisation(index, size), 'English', 'en', ...USER_IDS, words.words(words.randomInt(200, 1_500))]
  }
}

function* captionLineRows(size: SeedSize, words: Words) {
  for (let caption = 1; caption <= Math.ceil(size.videos / CAPTION_INTERVAL); caption++) {
    for (let line = 0; line < 40; line++) yield [caption, line * 2_000, line * 2_000 + 1_900, words.words(8)]
  }
}

const OVERLAY_COLUMNS = `organisation_id, media_id, disabled, at_end, title, description, image_path, link_text, link_action, link_url,
  link_target, link_javascript_code, language`

function* overlayRows(size: SeedSize, words: Words) {
  for (let index = 0; index < size.videos; index += 20) {
    yield [toOrganisation(index, size), toMediaId(index), false, true, words.words(3), '', '', '', '', '', '', '', '']
  }
}

const FORM_COLUMNS = `organisation_id, primary_text, secondary_text, reference, opt_in_message, button_text, capture_names,
  capture_company_name, capture_opt_in, gated, created_by_user_id, submissions`

function formRows(size: SeedSize) {
  return generateRowsPerOrganisation(size, FORMS, (organisation) => [
    organisation,
    'Hello',
    '',
    '',
    '',
    '',
    true,
    true,
    true,
    false,
    '7',
    500,
  ])
}

function* submissionRows(size: SeedSize) {
  for (let form = 1; form <= size.organisations * FORMS; form++) {
    for (let n = 0; n < 500; n++) yield [form, toVideoId(n), 'Somebody', '', `somebody${n}@example.org`, false]
  }
}

function presentationRows(size: SeedSize, words: Words) {
  return generateRowsPerOrganisation(size, 50, (organisation, index) => {
    const video = toVideoId(index * size.organisations + organisation - 1)
    return [toPresentationId(organisation * 50 + index), organisation, '7', video, toTitle(words), '']
  })
}
