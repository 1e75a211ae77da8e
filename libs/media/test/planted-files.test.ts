import { execFile } from 'node:child_process'
import { access, link, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import { chunkFolder, type EncodePlan, makeSlideImages, packageRenditions, planEncode, probeSource, setFolder } from '../src/index.ts'
import { encodeAll, type MediaFixture, openMediaFixture, picture, quick, sound } from './media-fixtures.ts'

// These tests run a compromised program in place of ffmpeg. Since the program is sandboxed, the
// test itself plants files while the program runs: correctness must not depend on the sandbox.

let fixture: MediaFixture
/** A folder that no tool may read or write. */
let outside: string
let fakes = 0
beforeAll(async () => {
  fixture = await openMediaFixture()
})
afterAll(() => fixture.close())
beforeEach(async () => {
  outside = await mkdtemp(join(fixture.folder, 'outside-'))
  await writeFile(join(outside, 'secret'), 'a secret of the worker')
})

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  )

/**
 * Waits until the tool has finished its work in `folder`, then calls `plant` before the tool ends.
 */
async function plantWhileRunning(scratch: string, folder: string, plant: () => Promise<unknown>): Promise<void> {
  await waitFor(() => exists(join(folder, 'ready')), { timeout: 60_000 })
  await plant()
  await writeFile(join(scratch, 'planted'), '')
}
/**
 * Returns bash commands that signal the end of the work in `folder` and wait until files are
 * planted.
 */
const waitForPlanting = (folder: string) =>
  `: > ${folder}/ready; for ((i = 0; i < 1200; i++)); do [[ -e planted ]] && break; sleep 0.05; done`

/** Ways to redirect a reader of `path` to `target`. */
const plants: [string, (path: string, target: string) => Promise<unknown>][] = [
  ['a symbolic link', (path, target) => symlink(target, path)],
  ['a hard link', (path, target) => link(target, path)],
  ['a FIFO', (path) => promisify(execFile)('mkfifo', [path])],
]

describe('packaging', () => {
  let work: { plan: EncodePlan; source: string; scratch: string; tools: MediaFixture['tools'] }
  beforeAll(async () => {
    const source = await fixture.make('planted.mp4', `${picture('320x240', 25, 4)} ${sound(4)} ${quick}`)
    const scratch = fixture.scratch('planted')
    const plan = planEncode({
      probe: await probeSource({ source, scratch, tools: fixture.tools }),
      tools: fixture.tools,
      keys: ['h264_100'],
    })
    work = { plan, source, scratch, tools: fixture.tools }
    await encodeAll(work)
  }, 60_000)

  const outputFolder = () => join(work.scratch, 'made')
  beforeEach(async () => {
    for (const path of [outputFolder(), join(work.scratch, 'planted')]) await rm(path, { recursive: true, force: true })
  })

  /**
   * Returns an ffmpeg whose run that creates `file` waits for the planting of files after it. Other
   * runs do not wait.
   */
  const fakeRunThatCreates = (file: string) =>
    fixture.fake(`planting-${fakes++}`, `REAL "$@" || exit 1\n[[ "$*" == *made/${file}* ]] || exit 0\n${waitForPlanting('made')}`)

  test.each(
    ['grey.raw', 'preview.gif', 'poster.jpg', 'h264_100.mp4', 'sound.m4a'].flatMap((file) =>
      plants.map(([title, plant]) => [title, file, plant] as const),
    ),
  )(
    'fails and does not read %s in place of %s',
    async (_, file, plant) => {
      const target = join(outside, file)
      const packaging = packageRenditions({ ...work, tools: await fakeRunThatCreates(file) })
      const planting = plantWhileRunning(work.scratch, outputFolder(), async () => {
        // The content is valid; only the path to it is not.
        await writeFile(target, await readFile(join(outputFolder(), file)))
        await rm(join(outputFolder(), file))
        await plant(join(outputFolder(), file), target)
      })
      await expect(Promise.all([packaging, planting])).rejects.toMatchObject({ name: 'EncodeError', kind: 'incomplete' })
      expect(await readdir(join(work.scratch, setFolder))).not.toContain(file)
      expect((await readdir(outside)).sort()).toEqual([file, 'secret'].sort())
    },
    60_000,
  )

  test('fails if a folder was replaced by a link, and does not read it', async () => {
    const packaging = packageRenditions({ ...work, tools: await fakeRunThatCreates('h264_100.mp4') })
    const planting = plantWhileRunning(work.scratch, outputFolder(), async () => {
      await rename(outputFolder(), join(outside, 'made'))
      await symlink(join(outside, 'made'), outputFolder())
    })
    await expect(Promise.all([packaging, planting])).rejects.toMatchObject({ kind: 'incomplete' })
    expect(await readdir(join(work.scratch, setFolder))).toEqual(['hls', 'images'])
  }, 60_000)

  test('writes nothing outside the work folder if a tool plants links', async () => {
    const victims = ['storyboard.vtt', '0.mp4', 'index.m3u8', 'seg-00001.m4s']
    for (const name of victims) await writeFile(join(outside, name), 'unchanged')
    const attackedPaths = [
      'set/images/storyboard.vtt',
      'image-frames/0.mp4',
      'set/hls/h264_100/index.m3u8',
      'set/hls/h264_100/seg-00001.m4s',
    ]
    const attacks = attackedPaths.map((path, index) => `ln -sfn ${outside}/${victims[index]} ${path}; cat ${outside}/secret > ${path}`)
    const replacements = ['set/images', 'image-frames', 'set/hls/h264_100', 'set'].map(
      (folder) => `mv ${folder} made/gone && ln -s ${outside} ${folder}`,
    )
    const tools = await fixture.fake('writing', `REAL "$@" || exit 1\n{ ${[...attacks, ...replacements].join('\n')}\n} 2>/dev/null\nexit 0`)
    await packageRenditions({ ...work, tools })
    for (const name of victims) expect(String(await readFile(join(outside, name)))).toBe('unchanged')
    for (const path of attackedPaths) expect(String(await readFile(join(work.scratch, path)))).not.toContain('a secret of the worker')
  }, 60_000)

  test.each(plants)('fails for %s in place of a downloaded segment playlist', async (_, plant) => {
    const list = join(work.scratch, chunkFolder(0), 'h264_100/index.m3u8')
    await rename(list, `${list}.kept`)
    await writeFile(join(outside, 'index.m3u8'), 'no list')
    await plant(list, join(outside, 'index.m3u8'))
    await expect(packageRenditions(work)).rejects.toMatchObject({ kind: 'incomplete' })
    await rename(`${list}.kept`, list)
  })
})

describe('slides', () => {
  const jpeg = Buffer.from('ffd8ffd9', 'hex')
  test.each([...plants, ['a folder replaced by a link', undefined] as const])(
    'fails and does not read %s in place of an image',
    async (title, plant) => {
      const scratch = fixture.scratch('slides')
      const target = join(scratch, 'slides')
      await mkdir(target, { recursive: true })
      await writeFile(join(scratch, 'page-1.raw'), Buffer.alloc(16 * 16 * 4), { mode: 0o644 })
      for (const name of ['slide-1.jpg', 'thumb-1.jpg']) await writeFile(join(outside, name), jpeg)
      const outputFolder = join(scratch, 'made')
      const tools = await fixture.fake(
        `slides-${title.replaceAll(' ', '-')}`,
        `printf '\\xff\\xd8\\xff\\xd9' > made/thumb-1.jpg; ${waitForPlanting('made')}`,
      )
      const pictures = [{ raw: 'page-1.raw', width: 16, height: 16, image: 'slide-1.jpg', thumbnail: 'thumb-1.jpg' }]
      const drawing = makeSlideImages({ pictures, thumbnailSide: 8, scratch, target, tools })
      const planting = plantWhileRunning(scratch, outputFolder, async () => {
        if (plant) return plant(join(outputFolder, 'slide-1.jpg'), join(outside, 'slide-1.jpg'))
        await rename(outputFolder, `${outputFolder}-gone`)
        await symlink(outside, outputFolder)
      })
      await expect(Promise.all([drawing, planting])).rejects.toMatchObject({ kind: 'incomplete' })
      expect(await readdir(target)).toEqual([])
      expect((await readdir(outside)).sort()).toEqual(['secret', 'slide-1.jpg', 'thumb-1.jpg'])
    },
    30_000,
  )

  test('cannot be changed by a later run of the tool', async () => {
    const scratch = fixture.scratch('batches')
    const target = join(scratch, 'slides')
    await mkdir(target, { recursive: true })
    const draw = async (number: number, body: string) => {
      await writeFile(join(scratch, `page-${number}.raw`), Buffer.alloc(16 * 16 * 4), { mode: 0o644 })
      const pictures = [
        { raw: `page-${number}.raw`, width: 16, height: 16, image: `slide-${number}.jpg`, thumbnail: `thumb-${number}.jpg` },
      ]
      await makeSlideImages({ pictures, thumbnailSide: 8, scratch, target, tools: await fixture.fake(`batch-${number}`, body) })
    }
    await draw(1, 'exec REAL "$@"')
    const first = await readFile(join(target, 'slide-1.jpg'))
    const attack = 'echo mine > slides/slide-1.jpg; rm -f slides/slide-1.jpg; mv made/slide-2.jpg slides/slide-1.jpg; mv slides made/gone'
    await draw(2, `REAL "$@" || exit 1; { cp made/slide-2.jpg made/kept; ${attack}; mv made/kept made/slide-2.jpg; } 2>/dev/null; exit 0`)
    expect((await readFile(join(target, 'slide-1.jpg'))).equals(first)).toBe(true)
  }, 30_000)
})
