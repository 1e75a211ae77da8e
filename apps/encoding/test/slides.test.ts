import { describe, expect, test } from '@jest/globals'
import { findFfmpeg, sandboxFor } from '@vitascope/media'
import { isAlive } from '@vitascope/testing'
import { makeNestedForms, makePdf, makePlainPage, makeSlowPages } from './pdf.ts'
import type { Caller } from './service-under-test.ts'
import { slidesUnderTest, twoPages, waitLong } from './slides-under-test.ts'
import { leaseRequest } from './stand-in-worker.ts'

const slides = slidesUnderTest()

test('a PDF becomes an image and a thumbnail per page', async () => {
  const service = await slides.start()
  const worker = await slides.startWorker(service)
  const pdf = twoPages()
  const jobId = await slides.create(pdf)
  const set = await slides.expectSlides(jobId, 2)
  expect(set.slides.map(({ width, height }) => [width, height])).toEqual([
    [1920, 1080],
    [1357, 1920],
  ])
  const [red, blue] = set.slides.map(({ path }) => `${set.prefix}/${path}`)
  const [redThumb, blueThumb] = set.slides.map(({ thumbnailPath }) => `${set.prefix}/${thumbnailPath}`)
  expect(await slides.probeImage(`${red}`)).toEqual({ size: 'mjpeg,1920,1080', rgb: [3, 0, 0] })
  expect(await slides.probeImage(`${redThumb}`)).toEqual({ size: 'mjpeg,320,180', rgb: [3, 0, 0] })
  expect(await slides.probeImage(`${blue}`)).toEqual({ size: 'mjpeg,1357,1920', rgb: [0, 0, 3] })
  expect(await slides.probeImage(`${blueThumb}`)).toEqual({ size: 'mjpeg,226,320', rgb: [0, 0, 3] })
  expect((await slides.environment.storage.stat(`${set.prefix}/${set.documentPath}`))?.bytes).toBe(pdf.length)
  const progress = slides.environment.catalogue.progress(jobId)
  expect(progress).toEqual([...progress].sort((a, b) => a - b))
  expect(progress.every((percent) => percent >= 5 && percent <= 98)).toBe(true)
  expect(await slides.caller.job(jobId)).toMatchObject({ attempt: 1, progress: 100, mediaId: `8${jobId}` })
  // A repeated request changes nothing.
  const second = { jobId, presentationId: `8${jobId}`, organisationId: '1', sourceObject: `upload/${jobId}/file`, sourceBytes: pdf.length }
  await slides.caller.jobs.createSlideJob(second, slides.caller.call)
  await slides.expectSlides(jobId, 2)
  await slides.expectEmptyScratch()
  worker.kill('SIGTERM')
  expect(await worker.exited).toBe(0)
})

test('a worker logs at its start which parts of the sandbox are active', async () => {
  const worker = await slides.startWorker(await slides.start())
  const started = () => worker.lines.find((line) => line['msg'] === 'worker started')
  await waitLong(() => started() !== undefined)
  const { files, calls, endsBy, network, users } = await sandboxFor((await findFfmpeg()).ffmpeg)
  expect(started()?.['sandbox']).toEqual({
    landlock_abi: files === 'own' ? expect.any(Number) : 'off',
    seccomp: calls === 'filtered' ? 'on' : 'off',
    processes_end_by: endsBy,
    network,
    own_user: users !== undefined,
    process_limit: expect.stringMatching(/^(none|\d+ \((own|shared)\))$/),
  })
})

test('slides are in the order of the pages', async () => {
  await slides.startWorker(await slides.start())
  const set = await slides.expectSlides(
    await slides.create(makePdf(Array.from({ length: 23 }, (_, i) => makePlainPage(i === 21 ? '0 1 0' : '1 1 1', i + 1)))),
    23,
  )
  const greens = []
  for (const [index, { path }] of set.slides.entries())
    if ((await slides.probeImage(`${set.prefix}/${path}`)).rgb[0] === 0) greens.push(index)
  expect(greens).toEqual([21])
})

describe('rejects with 4002 and without a retry', () => {
  const archive = (text: string) => Buffer.concat([Buffer.from('PK\x03\x04'), Buffer.alloc(26), Buffer.from(text)])
  const cases: [string, () => Buffer, RegExp][] = [
    ['a text file', () => Buffer.from('not a presentation\n'.repeat(50)), /supported format/],
    ['an archive of another type', () => archive('word/document.xml'), /supported format/],
    ['a PPTX without LibreOffice', () => archive('ppt/presentation.xml'), /PPTX.*LibreOffice.*PDF/],
    ['an ODP without LibreOffice', () => archive('mimetypeapplication/vnd.oasis.opendocument.presentation'), /ODP.*LibreOffice.*PDF/],
    ['a broken PDF', () => Buffer.from('%PDF-1.7\nbroken'), /cannot be read/],
    ['a PDF without pages', () => makePdf([]), /no pages/],
    ['a PDF of 301 pages', () => makePdf(Array.from({ length: 301 }, () => ({}))), /301 pages; the maximum is 300/],
    ['a PDF with a page that takes minutes to render', () => makePdf(makeSlowPages(1, 100_000)), /page 1 takes too long/],
    ['a PDF with 10^8 forms', () => makeNestedForms(8), /cannot be read|too much memory|too long/],
    ['a PDF that uses up the memory', () => makeNestedForms(14), /cannot be read|too much memory|too long/],
  ]
  test('invalid files', async () => {
    const service = await slides.start()
    const worker = await slides.startWorker(service, { VITASCOPE_WORKER_STALL_SECONDS: '3' })
    for (const [name, make, reason] of cases) {
      const jobId = await slides.create(make())
      await slides.expectRejected(jobId, reason).catch((error: Error) => {
        throw new Error(`${name}: ${error.message}`)
      })
    }
    expect(isAlive(worker.pid)).toBe(true)
    await slides.expectSlides(await slides.create(twoPages()), 2)
  })
  test('a file above the size limit, without fetching it', async () => {
    await slides.startWorker(await slides.start())
    const request = {
      jobId: slides.nextJobId(),
      presentationId: '81',
      organisationId: '1',
      sourceObject: 'upload/none',
      sourceBytes: 100 * 2 ** 20 + 1,
    }
    await slides.caller.jobs.createSlideJob(request, slides.caller.call)
    await slides.expectRejected(request.jobId, /the maximum is 100 MiB/)
  })
})

describe('a slides job', () => {
  test('with an invalid field or of a user is rejected', async () => {
    await slides.start()
    const good = { jobId: '999', presentationId: '8', organisationId: '1', sourceObject: 'upload/1', sourceBytes: 1 }
    const cases = [
      ['job_id', { jobId: 'x' }],
      ['presentation_id', { presentationId: '../1' }],
      ['organisation_id', { organisationId: '' }],
      ['source_object', { sourceObject: '../etc/passwd' }],
      ['source_object', { sourceObject: '' }],
      ['source_bytes', { sourceBytes: 0 }],
    ] as const
    for (const [field, bad] of cases) {
      const rejected = slides.caller.jobs.createSlideJob({ ...good, ...bad }, slides.caller.call)
      await expect(rejected).rejects.toMatchObject({ kind: 'invalid', fields: [{ field }] })
    }
    const user = { kind: 'user', keyId: '3', userId: '7', organisationId: '1', userType: 'system' } as const
    await expect(slides.caller.jobs.createSlideJob(good, { ...slides.caller.call, principal: user })).rejects.toMatchObject({
      reason: 'SERVICE_ONLY',
    })
    expect(await slides.environment.db.query('select 1 from job')).toEqual([])
  })
  test('is not leased by a worker that does not support it', async () => {
    await slides.start()
    await slides.create(twoPages())
    const lease = (kinds: Parameters<Caller['work']['leaseTask']>[0]['kinds']) =>
      slides.caller.work.leaseTask(leaseRequest({ workerId: 'old:1', waitSeconds: 0, kinds }), slides.caller.call)
    expect((await lease([])).task).toBeUndefined()
    expect((await lease(['TASK_KIND_SLIDES' as never])).task).toBeDefined()
  })
  test('whose file is missing fails as a platform fault', async () => {
    await slides.startWorker(await slides.start({ VITASCOPE_RETRY_MS: '1' }))
    const request = { jobId: slides.nextJobId(), presentationId: '82', organisationId: '1', sourceObject: 'upload/none', sourceBytes: 5 }
    await slides.caller.jobs.createSlideJob(request, slides.caller.call)
    await waitLong(() => slides.environment.catalogue.failed(request.jobId)[0]?.code === 5004)
    // A storage fault has its own retries.
    expect(await slides.caller.job(request.jobId)).toMatchObject({ attempt: 1 })
  })
})

test('slides of a job that the catalogue does not need are swept', async () => {
  await slides.startWorker(await slides.start())
  const jobId = await slides.create(twoPages())
  await slides.expectSlides(jobId, 2)
  slides.environment.catalogue.unneeded.add(jobId)
  await slides.caller.jobs.cancelJob({ jobId }, slides.caller.call)
  await waitLong(async () => (await slides.environment.objects(`slides/8${jobId}`)).length === 0, {
    describe: 'the slides to be removed',
  })
  expect(await slides.environment.objects(`upload/${jobId}`)).toHaveLength(1)
})
