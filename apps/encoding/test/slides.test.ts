import { execFile } from 'node:child_process'
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals'
import { findFfmpeg, sandboxFor } from '@vitascope/media'
import type { SlideSet } from '@vitascope/proto/catalogue/v1/slide_set'
import { JobState } from '@vitascope/proto/encoding/v1/job'
import { isAlive, waitFor } from '@vitascope/testing'
import { makeFakeFfmpeg } from './fixture.ts'
import { makePdf, nestedForms, plainPage, slowPages } from './pdf.ts'
import { endProcesses, type RunningProcess, startServiceProcess, startWorkerProcess } from './running-process.ts'
import { type Caller, filesIn, openCaller, type Surroundings, startSurroundings } from './service-under-test.ts'
import { anAsk } from './stand-in-worker.ts'

let around: Surroundings
let caller: Caller
let nextJob = 1
/** Drawing takes a second; on a busy machine it may be many. */
const PATIENCE_MS = 100_000
const patiently: typeof waitFor = (condition, options) => waitFor(condition, { timeout: PATIENCE_MS, ...options })
jest.setTimeout(3 * PATIENCE_MS)

beforeAll(async () => {
  around = await startSurroundings()
})
afterEach(async () => {
  caller.close()
  await endProcesses()
  await around.db.query('truncate job, chunk, segment, object_prefix, worker, work_item, outbox')
})
afterAll(() => around.close())

async function start(env: Record<string, string> = {}) {
  const service = await startServiceProcess(around, env)
  caller = openCaller(service.address)
  return service
}
const startWorker = (service: { address: string }, env: Record<string, string> = {}) =>
  startWorkerProcess(around, service.address, { VITASCOPE_LIBREOFFICE: 'off', ...env })

/** Stores a file as an upload does, and creates a slides job. */
async function create(file: Buffer): Promise<string> {
  const jobId = String(nextJob++)
  const sourceObject = `upload/${jobId}/file`
  await around.storage.put(sourceObject, file)
  const request = { jobId, presentationId: `8${jobId}`, organisationId: '1', sourceObject, sourceBytes: file.length }
  await caller.jobs.createSlideJob(request, caller.call)
  return jobId
}

/** The job is reported once, with every file of its set in storage, nothing else of it, and the uploaded file as it was. */
async function expectSlides(jobId: string, count: number): Promise<SlideSet> {
  const ended = () => around.catalogue.slides(jobId)[0] ?? around.catalogue.failed(jobId)[0]
  const set = await patiently(ended, { describe: `slides of job ${jobId}` })
  if (!('slides' in set)) throw new Error(`job ${jobId} failed: ${set.code} ${set.message}`)
  expect((await caller.job(jobId)).state).toBe(JobState.JOB_STATE_OK)
  expect(set).toMatchObject({ jobId, prefix: expect.stringMatching(new RegExp(`^slides/8${jobId}/${jobId}-\\d+-[0-9a-f]{12}$`)) })
  expect(set.slides).toHaveLength(count)
  await patiently(async () => (await around.objects(`work/${jobId}`)).length === 0)
  const files = [...set.slides.flatMap(({ path, thumbnailPath }) => [path, thumbnailPath]), set.documentPath]
  await patiently(async () => (await around.objects(`slides/8${jobId}`)).every((name) => name.startsWith(`${set.prefix}/`)))
  expect((await around.objects(`slides/8${jobId}`)).sort()).toEqual(files.map((file) => `${set.prefix}/${file}`).sort())
  let bytes = 0
  for await (const object of around.storage.list(set.prefix)) bytes += object.bytes
  expect(bytes).toBe(set.bytes)
  expect(await around.objects(`upload/${jobId}`)).toHaveLength(1)
  expect([around.catalogue.slides(jobId).length, around.catalogue.failed(jobId).length]).toEqual([1, 0])
  return set
}

async function expectRefused(jobId: string, reason: RegExp): Promise<void> {
  const failed = await patiently(() => around.catalogue.failed(jobId)[0], { describe: `job ${jobId} to be refused` })
  expect(failed).toEqual({ code: 4002, message: expect.stringMatching(reason) })
  expect(await caller.job(jobId)).toMatchObject({ state: JobState.JOB_STATE_FAILED, attempt: 1 })
  await expectNothing(jobId)
}

async function expectNothing(jobId: string): Promise<void> {
  for (const prefix of [`work/${jobId}`, `slides/8${jobId}`]) {
    await patiently(async () => (await around.objects(prefix)).length === 0, { describe: `${prefix} to be empty` })
  }
  await patiently(async () => (await filesIn(join(around.folder, 'scratch/worker-worker-1'))).length === 0)
}

/** Width, height, and the colour in the middle of the top, of a JPEG in storage. */
async function look(name: string) {
  const { ffmpeg, ffprobe } = await findFfmpeg()
  const file = join(around.folder, 'look.jpg')
  await around.storage.download(name, file)
  const size = await promisify(execFile)(ffprobe, [
    '-v',
    'error',
    '-show_entries',
    'stream=codec_name,width,height',
    '-of',
    'csv=p=0',
    file,
  ])
  const pixel = ['-vf', 'crop=2:2:iw/2:8', '-f', 'rawvideo', '-pix_fmt', 'rgb24', '-frames:v', '1', '-']
  const { stdout } = await promisify(execFile)(ffmpeg, ['-v', 'error', '-i', file, ...pixel], { encoding: 'buffer' })
  await rm(file)
  return { size: size.stdout.trim(), rgb: [...stdout.subarray(0, 3)].map((value) => Math.round(value / 85)) }
}

const twoPages = () => makePdf([plainPage('1 0 0', 1), plainPage('0 0 1', 2, { width: 595, height: 842 })])

test('a PDF becomes an image and a thumbnail per page', async () => {
  const service = await start()
  const worker = await startWorker(service)
  const pdf = twoPages()
  const jobId = await create(pdf)
  const set = await expectSlides(jobId, 2)
  expect(set.slides.map(({ width, height }) => [width, height])).toEqual([
    [1920, 1080],
    [1357, 1920],
  ])
  const [red, blue] = set.slides.map(({ path }) => `${set.prefix}/${path}`)
  const [redThumb, blueThumb] = set.slides.map(({ thumbnailPath }) => `${set.prefix}/${thumbnailPath}`)
  expect(await look(`${red}`)).toEqual({ size: 'mjpeg,1920,1080', rgb: [3, 0, 0] })
  expect(await look(`${redThumb}`)).toEqual({ size: 'mjpeg,320,180', rgb: [3, 0, 0] })
  expect(await look(`${blue}`)).toEqual({ size: 'mjpeg,1357,1920', rgb: [0, 0, 3] })
  expect(await look(`${blueThumb}`)).toEqual({ size: 'mjpeg,226,320', rgb: [0, 0, 3] })
  expect((await around.storage.stat(`${set.prefix}/${set.documentPath}`))?.bytes).toBe(pdf.length)
  const progress = around.catalogue.progress(jobId)
  expect(progress).toEqual([...progress].sort((a, b) => a - b))
  expect(progress.every((percent) => percent >= 5 && percent <= 98)).toBe(true)
  expect(await caller.job(jobId)).toMatchObject({ attempt: 1, progress: 100, mediaId: `8${jobId}` })
  // A repeated request changes nothing.
  const again = { jobId, presentationId: `8${jobId}`, organisationId: '1', sourceObject: `upload/${jobId}/file`, sourceBytes: pdf.length }
  await caller.jobs.createSlideJob(again, caller.call)
  await expectSlides(jobId, 2)
  await patiently(async () => (await filesIn(join(around.folder, 'scratch/worker-worker-1'))).length === 0)
  worker.kill('SIGTERM')
  expect(await worker.exited).toBe(0)
})

test('a worker logs at its start which parts of the sandbox are active', async () => {
  const worker = await startWorker(await start())
  const started = () => worker.lines.find((line) => line['msg'] === 'working')
  await patiently(() => started() !== undefined)
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
  await startWorker(await start())
  const set = await expectSlides(
    await create(makePdf(Array.from({ length: 23 }, (_, i) => plainPage(i === 21 ? '0 1 0' : '1 1 1', i + 1)))),
    23,
  )
  const greens = []
  for (const [index, { path }] of set.slides.entries()) if ((await look(`${set.prefix}/${path}`)).rgb[0] === 0) greens.push(index)
  expect(greens).toEqual([21])
})

describe('rejects with 4002, without a retry,', () => {
  const archive = (text: string) => Buffer.concat([Buffer.from('PK\x03\x04'), Buffer.alloc(26), Buffer.from(text)])
  const cases: [string, () => Buffer, RegExp][] = [
    ['a text', () => Buffer.from('this is no presentation\n'.repeat(50)), /known kind/],
    ['an archive of something else', () => archive('word/document.xml'), /known kind/],
    ['a PPTX, where LibreOffice is not', () => archive('ppt/presentation.xml'), /PPTX.*LibreOffice.*PDF/],
    ['an ODP, where LibreOffice is not', () => archive('mimetypeapplication/vnd.oasis.opendocument.presentation'), /ODP.*LibreOffice.*PDF/],
    ['a broken PDF', () => Buffer.from('%PDF-1.7\nbroken'), /cannot be read/],
    ['a PDF without pages', () => makePdf([]), /no pages/],
    ['a PDF of 301 pages', () => makePdf(Array.from({ length: 301 }, () => ({}))), /301 pages; 300/],
    ['a PDF whose one page takes minutes to draw', () => makePdf(slowPages(1, 100_000)), /page 1 takes too long/],
    ['a PDF that draws a hundred million things', () => nestedForms(8), /cannot be read|too much memory|too long/],
    ['a PDF that takes all memory', () => nestedForms(14), /cannot be read|too much memory|too long/],
  ]
  test('invalid files', async () => {
    const service = await start()
    const worker = await startWorker(service, { VITASCOPE_WORKER_STALL_SECONDS: '3' })
    for (const [name, make, reason] of cases) {
      const jobId = await create(make())
      await expectRefused(jobId, reason).catch((error: Error) => {
        throw new Error(`${name}: ${error.message}`)
      })
    }
    expect(isAlive(worker.pid)).toBe(true)
    await expectSlides(await create(twoPages()), 2)
  })
  test('a file above the size limit before it is fetched', async () => {
    await startWorker(await start())
    const request = {
      jobId: String(nextJob++),
      presentationId: '81',
      organisationId: '1',
      sourceObject: 'upload/none',
      sourceBytes: 100 * 2 ** 20 + 1,
    }
    await caller.jobs.createSlideJob(request, caller.call)
    await expectRefused(request.jobId, /too large: 100 MiB/)
  })
})

describe('a slides job', () => {
  test('with an invalid field or of a user is rejected', async () => {
    await start()
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
      const refused = caller.jobs.createSlideJob({ ...good, ...bad }, caller.call)
      await expect(refused).rejects.toMatchObject({ kind: 'invalid', fields: [{ field }] })
    }
    const user = { kind: 'user', keyId: '3', userId: '7', organisationId: '1', userType: 'system' } as const
    await expect(caller.jobs.createSlideJob(good, { ...caller.call, principal: user })).rejects.toMatchObject({ reason: 'SERVICE_ONLY' })
    expect(await around.db.query('select 1 from job')).toEqual([])
  })
  test('is not leased by a worker that does not support it', async () => {
    await start()
    await create(twoPages())
    const lease = (kinds: Parameters<Caller['work']['leaseTask']>[0]['kinds']) =>
      caller.work.leaseTask(anAsk({ workerId: 'old:1', waitSeconds: 0, kinds }), caller.call)
    expect((await lease([])).task).toBeUndefined()
    expect((await lease(['TASK_KIND_SLIDES' as never])).task).toBeDefined()
  })
  test('whose file is missing fails as a platform fault', async () => {
    await startWorker(await start({ VITASCOPE_RETRY_MS: '1' }))
    const request = { jobId: String(nextJob++), presentationId: '82', organisationId: '1', sourceObject: 'upload/none', sourceBytes: 5 }
    await caller.jobs.createSlideJob(request, caller.call)
    await patiently(() => around.catalogue.failed(request.jobId)[0]?.code === 5004)
    // A storage fault has its own retries.
    expect(await caller.job(request.jobId)).toMatchObject({ attempt: 1 })
  })
})

describe('with LibreOffice', () => {
  const folders: string[] = []
  afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))))

  /** A program that replaces it and follows instructions. `MADE` is a PDF as base64. */
  async function fakeOffice(body: string): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'vitascope-office-fake-'))
    folders.push(folder)
    await chmod(folder, 0o755)
    const file = join(folder, 'soffice.bin')
    await writeFile(file, `#!/bin/bash\n${body.replaceAll('MADE', twoPages().toString('base64'))}\n`, { mode: 0o755 })
    return file
  }
  const pptx = () => Buffer.concat([Buffer.from('PK\x03\x04'), Buffer.alloc(26), Buffer.from('ppt/presentation.xml')])

  test('a PPTX is converted first, and the PDF is kept', async () => {
    // With a new profile it must be started twice.
    const office = await fakeOffice(
      `test -e profile/again || { touch profile/again; exit 81; }
       test -r "\${@: -1}" && test "\${@: -1}" = /office/source.pptx && test -f profile/user/registrymodifications.xcu &&
       echo MADE | base64 -d > source.pdf`,
    )
    await startWorker(await start(), { VITASCOPE_LIBREOFFICE: office })
    const set = await expectSlides(await create(pptx()), 2)
    expect((await around.storage.stat(`${set.prefix}/${set.documentPath}`))?.bytes).toBe(twoPages().length)
  })
  test('it can read the programs of the system and its own folder only', async () => {
    const seen =
      'ls -d / /*; for name in tmp home root proc sys; do ls -A /$name 2>/dev/null; done; cat /etc/passwd /etc/hostname 2>/dev/null; env | grep VITASCOPE'
    const office =
      await fakeOffice(`(${seen}) > seen.txt 2>/dev/null; (exec 3<>/dev/tcp/127.0.0.1/${new URL(around.origin.url('/')).port}) 2>/dev/null && echo connected >> seen.txt
      unshare --mount true 2>/dev/null && echo could leave by its rights >> seen.txt; unshare --user true 2>/dev/null && echo could get rights >> seen.txt
      { echo '%PDF-1.7'; cat seen.txt; } > source.pdf; cat seen.txt >&2; exit 3`)
    const worker = await startWorker(await start({ VITASCOPE_RETRY_MS: '1' }), { VITASCOPE_LIBREOFFICE: office })
    const jobId = await create(pptx())
    await patiently(() => around.catalogue.failed(jobId)[0]?.code === 5002)
    const detail = String(worker.lines.find((line) => line['msg'] === 'task failed')?.['detail'])
    const known = /^\/(bin|sbin|lib\d*|usr|opt|etc|var|dev|tmp|office)?$/
    expect(detail.split('\n').filter((line) => line !== '' && !known.test(line) && line !== basename(dirname(office)))).toEqual([])
    expect(detail).toContain('/office')
  })
  test('a file that it cannot convert is rejected', async () => {
    await startWorker(await start(), { VITASCOPE_LIBREOFFICE: await fakeOffice('exit 0') })
    await expectRefused(await create(pptx()), /LibreOffice could make no PDF/)
  })
  test.each([
    ['a symbolic link', 'ln -s /etc/passwd source.pdf; mkfifo source.pdf; exit 0'],
    ['a second name of another file', "echo '%PDF-1.7' > other; ln other source.pdf"],
    ['a folder', 'mkdir source.pdf'],
  ])('%s in place of its PDF is not read', async (_, body) => {
    await startWorker(await start(), { VITASCOPE_LIBREOFFICE: await fakeOffice(body) })
    await expectRefused(await create(pptx()), /LibreOffice could make no PDF/)
  })
})

describe('during rendering', () => {
  const slow = () => makePdf(slowPages(12, 300))

  /** Processes below another one that run a program. */
  async function below(pid: number, program: RegExp): Promise<number[]> {
    const all = await Promise.all(
      (await readdir('/proc'))
        .filter((name) => /^\d+$/.test(name))
        .map(async (name) => {
          const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '')
          const command = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '')
          return { pid: Number(name), parent: Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]), command }
        }),
    )
    const children = (parent: number): typeof all =>
      all.filter((one) => one.parent === parent).flatMap((one) => [one, ...children(one.pid)])
    return children(pid)
      .filter(({ command }) => program.test(command))
      .map((one) => one.pid)
  }
  const renderer = /node\0.*page-renderer\.mts/
  async function drawing(worker: RunningProcess): Promise<number> {
    const pid = await patiently(async () => (await below(worker.pid, renderer))[0], { describe: 'a page to be drawn' })
    return Number(pid)
  }

  test('killing a worker ends its renderer, and the next worker continues at once', async () => {
    const service = await start({ VITASCOPE_LEASE_MS: '600000' })
    const worker = await startWorker(service)
    const jobId = await create(slow())
    const child = await drawing(worker)
    worker.kill('SIGKILL')
    await worker.exited
    await patiently(() => !isAlive(child), { describe: 'the renderer to be gone' })
    await startWorker(service)
    await expectSlides(jobId, 12)
    expect((await caller.job(jobId)).attempt).toBe(2)
  })
  test('killing a renderer costs one attempt', async () => {
    const worker = await startWorker(await start())
    const jobId = await create(slow())
    process.kill(await drawing(worker), 'SIGKILL')
    await expectSlides(jobId, 12)
    expect((await caller.job(jobId)).attempt).toBe(2)
  })
  test('a service that is killed and restarted accepts the result of the running worker', async () => {
    const service = await start()
    const worker = await startWorker(service)
    const jobId = await create(slow())
    await drawing(worker)
    service.kill('SIGKILL')
    await service.exited
    caller.close()
    await start({ VITASCOPE_ENCODING_LISTEN: service.address })
    await expectSlides(jobId, 12)
    expect((await caller.job(jobId)).attempt).toBe(1)
  })
  test('a worker that pauses past its lease loses its task', async () => {
    const service = await start({ VITASCOPE_LEASE_MS: '4000' })
    const stale = await startWorker(service)
    const jobId = await create(slow())
    await drawing(stale)
    stale.kill('SIGSTOP')
    await startWorker(service, { VITASCOPE_WORKER_NAME: 'worker-2' })
    await expectSlides(jobId, 12)
    stale.kill('SIGCONT')
    await patiently(() => stale.lines.some((line) => line['outcome'] === 'lost'), {
      timeout: PATIENCE_MS,
      describe: 'the stale worker to notice',
    })
    await patiently(async () => (await filesIn(join(around.folder, 'scratch/worker-worker-1'))).length === 0)
    await expectSlides(jobId, 12)
  })
  test('a stopped worker releases its task, and this counts as no attempt', async () => {
    const service = await start({ VITASCOPE_LEASE_MS: '600000' })
    const worker = await startWorker(service)
    const jobId = await create(slow())
    await drawing(worker)
    worker.kill('SIGTERM')
    expect(await worker.exited).toBe(0)
    await startWorker(service, { VITASCOPE_WORKER_NAME: 'worker-2' })
    await expectSlides(jobId, 12)
    expect((await caller.job(jobId)).attempt).toBe(1)
  })
  test('cancelling a job stops its renderer and leaves no objects', async () => {
    const worker = await startWorker(await start())
    const jobId = await create(slow())
    const child = await drawing(worker)
    await caller.jobs.cancelJob({ jobId }, caller.call)
    await patiently(() => !isAlive(child), { describe: 'the renderer to be gone' })
    await expectNothing(jobId)
    expect(await around.objects(`upload/${jobId}`)).toHaveLength(1)
  })
  test('an ffmpeg that produces no images fails the job after three attempts', async () => {
    const ffmpeg = await makeFakeFfmpeg(join(around.folder, 'fake'), 'exit 0')
    await startWorker(await start(), { VITASCOPE_FFMPEG: ffmpeg })
    const jobId = await create(twoPages())
    await patiently(() => around.catalogue.failed(jobId)[0]?.code === 5003)
    expect(await caller.job(jobId)).toMatchObject({ state: JobState.JOB_STATE_FAILED, attempt: 3 })
    await expectNothing(jobId)
  })
})

test('slides of a deleted presentation are swept', async () => {
  await startWorker(await start())
  const jobId = await create(twoPages())
  await expectSlides(jobId, 2)
  around.catalogue.unwanted.add(jobId)
  await caller.jobs.cancelJob({ jobId }, caller.call)
  await patiently(async () => (await around.objects(`slides/8${jobId}`)).length === 0, {
    timeout: PATIENCE_MS,
    describe: 'the slides to be gone',
  })
  expect(await around.objects(`upload/${jobId}`)).toHaveLength(1)
})
