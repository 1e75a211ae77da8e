import { cp } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type pg from 'pg'

/** Ids of the video that is copied. */
interface Model {
  videoId: string
  mediaId: string
  jobId: string
}

/** Above all ids that a new platform has assigned, and within the range of catalogue ids. */
const FIRST_ID = 1_000_000_000
/** Number of videos whose folders are copied concurrently. */
const AT_ONCE = 16

/**
 * Creates this number of copies of an encoded video: its rows in catalogue and encoding with new ids,
 * and its objects byte by byte. Only the ids differ from the rows that the services wrote.
 */
export async function copyVideos(client: pg.Client, storageDir: string, videoId: string, copies: number): Promise<void> {
  const model = await findModel(client, videoId)
  const { rows } = await client.query<{ prefix: string }>(
    'select prefix from encoding.object_prefix where job_id = $1 and drop_time is null order by prefix',
    [model.jobId],
  )
  const prefixes = rows.map(({ prefix }) => prefix)
  for (let copy = 0; copy < copies; copy += AT_ONCE) {
    const numbers = Array.from({ length: Math.min(AT_ONCE, copies - copy) }, (_, index) => copy + index)
    await Promise.all(
      numbers.flatMap((number) => prefixes.map((prefix) => copyFolder(storageDir, prefix, replacePrefix(prefix, model, number)))),
    )
  }
  await copyRows(client, model, prefixes, copies)
}

async function findModel(client: pg.Client, videoId: string): Promise<Model> {
  const { rows } = await client.query<Model>(
    `select v.video_id::text as "videoId", m.media_id::text as "mediaId", m.set_job_id::text as "jobId"
       from catalogue.video v join catalogue.media m using (media_id) where v.video_id = $1`,
    [videoId],
  )
  const [model] = rows
  if (!model?.jobId) throw new Error('the video has no published set')
  return model
}

/**
 * Returns the prefix for a copy, in the format of encoding's `newPrefix`: `media/MEDIA/JOB-FENCE`, or
 * `source/JOB/FENCE`.
 */
function replacePrefix(prefix: string, { mediaId, jobId }: Model, copy: number): string {
  return prefix
    .replace(`media/${mediaId}/${jobId}-`, `media/${FIRST_ID + copy}/${FIRST_ID + copy}-`)
    .replace(`source/${jobId}/`, `source/${FIRST_ID + copy}/`)
}

async function copyFolder(storageDir: string, from: string, to: string): Promise<void> {
  const target = join(storageDir, to)
  if (dirname(target) === storageDir) throw new Error(`${to} is not the folder of a video`)
  await cp(join(storageDir, from), target, { recursive: true, errorOnExist: true, force: false, mode: 0 })
}

async function copyRows(client: pg.Client, { videoId, mediaId, jobId }: Model, prefixes: readonly string[], copies: number): Promise<void> {
  // Each id and prefix of the model is replaced by one placeholder, so that one statement fits
  // every table.
  const changed = (row: string, ids: string) =>
    `jsonb_populate_record(null::${row}, replace(replace(to_jsonb(t)::text, 'media/${mediaId}/${jobId}-', format('media/%s/%s-', n, n)),
       'source/${jobId}/', format('source/%s/', n))::jsonb || ${ids})`
  const copy = (table: string, where: string, ids: string) =>
    client.query(
      `insert into ${table} overriding system value select (${changed(table, ids)}).* from ${table} t, generate_series($1::bigint, $2::bigint) n
       where ${where}`,
      [FIRST_ID, FIRST_ID + copies - 1],
    )
  await copy('catalogue.media', `media_id = ${mediaId}`, `jsonb_build_object('media_id', n, 'set_job_id', n)`)
  await copy('catalogue.video', `video_id = ${videoId}`, `jsonb_build_object('video_id', n, 'media_id', n)`)
  await copy('catalogue.job', `job_id = ${jobId}`, `jsonb_build_object('job_id', n, 'video_id', n, 'media_id', n)`)
  await copy('encoding.job', `job_id = ${jobId}`, `jsonb_build_object('job_id', n, 'media_id', n::text)`)
  await copy(
    'encoding.object_prefix',
    `prefix = any(array[${prefixes.map((prefix) => `'${prefix}'`).join(', ')}])`,
    `jsonb_build_object('job_id', n)`,
  )
}
