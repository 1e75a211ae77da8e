import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { isDomainError } from '@vitascope/errors'
import { testLog } from '@vitascope/testing'
import fc from 'fast-check'
import { buildOrganisation, buildRenditionSet, createCall, createUpload } from '../../test/builders.ts'
import { type CatalogueDatabase, catalogueDatabase } from '../../test/catalogue-database.ts'
import { createPresentationStore } from '../presentation/presentation-store.ts'
import { createSlideJobStore } from '../presentation/slide-job-store.ts'
import { readUsage } from './reserve.ts'
import { createUsageCheck } from './usage-check.ts'

let catalogue: CatalogueDatabase
let differences = 0
let organisations: string[] = []
const MIB = 1024 ** 2
const quota = { bytes: 60 * MIB, minutesPerMonth: 40, concurrentJobs: 6 }

beforeAll(async () => {
  catalogue = await catalogueDatabase()
})
afterAll(() => catalogue.close())

let last = 300
/** Two new organisations for each run. */
async function newOrganisations() {
  organisations = [String(++last), String(++last)]
  for (const organisationId of organisations) await catalogue.organisations.apply(buildOrganisation({ organisationId, quota }))
}

const check = () => createUsageCheck(catalogue.db, testLog, () => differences++)

type Step = { kind: (typeof KINDS)[number]; of: number; which: number; mib: number; twice: boolean }
const KINDS = [
  'upload',
  'upload',
  'replace',
  'publish',
  'publish',
  'fail',
  'cancel',
  'delete',
  'slides',
  'created',
  'move',
  'drop',
] as const
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    kind: fc.constantFrom(...KINDS),
    of: fc.nat({ max: 1 }),
    which: fc.nat({ max: 1_000 }),
    mib: fc.integer({ min: 1, max: 25 }),
    twice: fc.boolean(),
  }),
  { minLength: 10, maxLength: 60 },
)

/** Computes the usage from the rows alone, without the maintained sums. */
async function fromRows(organisationId: string) {
  const [row] = await catalogue.db.query<{ bytes: string; ms: string; jobs: number }>(
    `select coalesce((select sum((renditions ->> 'bytes')::bigint) from media where organisation_id = $1), 0)
         + coalesce((select sum(bytes) from slide_set join presentation using (presentation_id) where organisation_id = $1), 0) as bytes,
       coalesce((select sum(12480) from job where organisation_id = $1 and state = 'ok'), 0) as ms,
       (select count(*)::int from job where organisation_id = $1 and state in ('queued', 'running'))
         + (select count(*)::int from presentation_job where organisation_id = $1 and state in ('queued', 'running')) as jobs`,
    [organisationId],
  )
  return { bytes: Number(row?.bytes), ms: Number(row?.ms), jobs: row?.jobs }
}

/** Returns the row of the result that `which` selects. */
async function pick<Row>(which: number, text: string): Promise<Row | undefined> {
  const rows = await catalogue.db.query<Row>(text, [organisations])
  return rows[which % Math.max(1, rows.length)]
}

async function run({ kind, of, which, mib }: Step): Promise<unknown> {
  const organisationId = organisations[of] ?? ''
  const slides = createSlideJobStore(catalogue.db, catalogue.enqueue)
  const presentations = createPresentationStore(catalogue.db, catalogue.enqueue)
  const createJob = (more = '') =>
    pick<{ job_id: string }>(
      which,
      `select job_id from job where organisation_id = any($1::bigint[]) ${more} order by job_id desc limit 12`,
    )
  const createMedia = () =>
    pick<{ media_id: string }>(which, 'select media_id from media where organisation_id = any($1::bigint[]) order by media_id limit 12')
  const createPresentation = () =>
    pick<{ presentation_id: string; organisation_id: string }>(
      which,
      'select * from presentation where organisation_id = any($1::bigint[]) order by presentation_id limit 12',
    )
  switch (kind) {
    case 'upload':
      return catalogue.uploads.accept(createUpload({}, { organisationId }), createCall())
    case 'replace': {
      const media = await createMedia()
      const source = { sourceUrl: 'https://example.org/b.mp4', userId: '7', startsWaiting: false }
      return media && catalogue.media.replace({ scope: null, mediaId: media.media_id }, source, createCall())
    }
    case 'publish': {
      const job = await createJob()
      return (
        job && catalogue.jobs.apply(job.job_id, { kind: 'published', renditions: buildRenditionSet(job.job_id, { bytes: mib * MIB }) }, 9)
      )
    }
    case 'fail': {
      const job = await createJob()
      return job && catalogue.jobs.apply(job.job_id, { kind: 'failed', code: 4002, message: '' }, 9)
    }
    case 'cancel': {
      const job = await createJob(`and state in ('queued', 'running')`)
      return job && catalogue.jobs.cancel(null, job.job_id)
    }
    case 'delete': {
      const media = await createMedia()
      return media && catalogue.media.remove({ scope: null, mediaId: media.media_id }, { userId: '7', callerId: '7', notes: '' })
    }
    case 'slides': {
      const known = which % 2 === 0 ? undefined : await createPresentation()
      const sourceObject = `${organisations[0]}/${which}-${mib}`
      const to = { presentationId: known?.presentation_id ?? '', organisationId: known?.organisation_id ?? organisationId }
      return slides.add({ ...to, userId: '7', filename: 'a.pdf', title: 'a', sourceObject, sourceBytes: mib * MIB })
    }
    case 'created': {
      const job = await pick<{ job_id: string }>(
        which,
        'select job_id from presentation_job where organisation_id = any($1::bigint[]) order by job_id desc limit 6',
      )
      const page = { path: '1.jpg', thumbnailPath: '1-s.jpg', width: 1, height: 1 }
      const set = { jobId: job?.job_id ?? '', prefix: 's', slides: [page], documentPath: 'a.pdf', bytes: mib * MIB }
      return job && slides.apply(job.job_id, { kind: 'slides', set }, 9)
    }
    case 'move': {
      const presentation = await createPresentation()
      const key = { scope: null, presentationId: presentation?.presentation_id ?? '' }
      return presentation && presentations.update(key, (current) => ({ ...current, organisationId }))
    }
    case 'drop': {
      const presentation = await createPresentation()
      return presentation && presentations.remove({ scope: null, presentationId: presentation.presentation_id })
    }
  }
}

/** Runs a step. Rejections (domain errors) are expected, other errors are not. */
async function tryStep(step: Step): Promise<void> {
  try {
    await run(step)
  } catch (error) {
    if (!isDomainError(error)) throw error
  }
}

describe('after random operations, some of them concurrent', () => {
  test('the maintained usage matches the rows and is within the quota', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (sequence) => {
        await newOrganisations()
        // Moving a presentation moves its bytes, regardless of the quota.
        const max = sequence.some(({ kind }) => kind === 'move') ? Number.POSITIVE_INFINITY : quota.bytes
        for (const step of sequence) await Promise.all(step.twice ? [tryStep(step), tryStep(step)] : [tryStep(step)])
        for (const organisationId of organisations) {
          const usage = await readUsage(catalogue.db.query, organisationId)
          expect(usage).toMatchObject(await fromRows(organisationId))
          expect(await check().differences(organisationId)).toEqual([])
          expect(usage.ms + usage.reservedMs).toBeLessThanOrEqual(quota.minutesPerMonth * 60_000)
          expect(usage.bytes + usage.reservedBytes).toBeLessThanOrEqual(max)
          expect(usage.jobs).toBeLessThanOrEqual(quota.concurrentJobs)
        }
      }),
      { numRuns: 60 },
    )
  }, 240_000)
})

test('differences are reported and corrected', async () => {
  const [organisationId = ''] = organisations
  const before = await readUsage(catalogue.db.query, organisationId)
  await catalogue.db.query(
    `insert into organisation_usage values ($1, 5)
     on conflict (organisation_id) do update set bytes = organisation_usage.bytes + 5`,
    [organisationId],
  )
  await catalogue.db.query(
    `insert into organisation_minutes values ($1, date_trunc('month', now() at time zone 'UTC')::date, 7)
     on conflict (organisation_id, month) do update set used_ms = organisation_minutes.used_ms + 7`,
    [organisationId],
  )
  differences = 0
  const month = expect.stringMatching(/^\d{4}-\d\d-01$/)
  expect(await check().differences(organisationId)).toEqual([
    { organisationId, month: undefined, storedUsage: before.bytes + 5, actualUsage: before.bytes },
    { organisationId, month, storedUsage: before.ms + 7, actualUsage: before.ms },
  ])
  await check().run(new AbortController().signal)
  expect(differences).toBe(2)
  expect(await readUsage(catalogue.db.query, organisationId)).toEqual(before)
})
