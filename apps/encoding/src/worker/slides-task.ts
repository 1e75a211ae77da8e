import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolderFor, makeSlideImages, placeSource, SourceRefused, sandboxFor } from '@vitascope/media'
import { convertToPdf } from '../slides/convert-to-pdf.ts'
import { type DrawnPage, readyRenderer, renderPages } from '../slides/render-pages.ts'
import { PAGES_AT_ONCE, slideLimits } from '../slides/slide-limits.ts'
import { sniffPresentation } from '../slides/sniff-presentation.ts'
import type { FilesResult, SlidesFile, SlidesInput } from '../work/task.ts'
import { putFiles, putList } from './put-files.ts'
import type { TaskWork } from './task-work.ts'

/** What share of the task the drawing is; before it the file is fetched and converted, after it the pictures are put into storage. */
const BEFORE = 0.1
const DRAWN = 0.9

/** Makes a picture and a thumbnail of each page of a stored file, and puts them into storage with a list of what there is. */
export async function slidesTask(work: TaskWork, { source, setPrefix, workPrefix }: SlidesInput): Promise<FilesResult> {
  const { storage, scratch, office, signal, onDone } = work
  if (source.bytes > slideLimits.bytes) {
    throw new SourceRefused(4002, `this file is too large: ${slideLimits.bytes / 2 ** 20} MiB are the most`)
  }
  const file = await work.getSource(source, slideLimits.scratchBytes)
  const format = await sniffPresentation(file)
  const pdf = format === 'pdf' ? file : await convertToPdf({ file, format, folder: join(scratch, 'office'), office, signal })
  onDone(BEFORE)
  const folder = join(scratch, 'pages')
  const pages = await drawAll(work, pdf, folder)
  const made = await putFiles(
    storage,
    { folder, prefix: setPrefix, paths: pages.flatMap(({ page }) => [imageOf(page), thumbnailOf(page)]) },
    signal,
  )
  const document = await storage.put(`${setPrefix}/${DOCUMENT}`, { file: pdf }, { signal })
  onDone(1)
  const stored = new Map(made.map((one) => [one.path, one]))
  const list: SlidesFile[] = pages.flatMap(({ page, width, height }): SlidesFile[] => {
    const [image, thumbnail] = [stored.get(imageOf(page)), stored.get(thumbnailOf(page))]
    if (!image || !thumbnail) throw new Error(`the pictures of page ${page} were not put`)
    return [
      { ...image, kind: 'slide', page, width, height },
      { ...thumbnail, kind: 'thumbnail', page },
    ]
  })
  list.push({ path: DOCUMENT, ...document, kind: 'document' })
  return { list: await putList(storage, workPrefix, list, signal) }
}

const DOCUMENT = 'document.pdf'
const numbered = (page: number) => String(page).padStart(4, '0')
const imageOf = (page: number) => `slide-${numbered(page)}.jpg`
const thumbnailOf = (page: number) => `thumb-${numbered(page)}.jpg`
const rawOf = (page: number) => `page-${page}.raw`

/** All pages as JPEGs in the folder, some at once, so that the pixels of a long file never lie there all together. */
async function drawAll(work: TaskWork, pdf: string, folder: string): Promise<DrawnPage[]> {
  const { tools, signal, onDone, stallSeconds } = work
  const until = performance.now() + slideLimits.drawSeconds * 1000
  await placeSource(pdf, folder, await sandboxFor(process.execPath))
  await makeFolderFor(await sandboxFor(tools.ffmpeg), folder)
  await readyRenderer(folder)
  const all: DrawnPage[] = []
  for (let pages = 1; all.length < pages; ) {
    const from = all.length + 1
    const left = Math.ceil((until - performance.now()) / 1000)
    if (left <= 0)
      throw new SourceRefused(4002, `no slides can be made of this file: its first ${all.length} pages alone took too long to draw`)
    let done = 0
    const run = await renderPages({
      folder,
      from,
      to: from + PAGES_AT_ONCE - 1,
      wallSeconds: left,
      // A page says nothing while it is drawn, where ffmpeg reports twice a second.
      pageSeconds: 2 * stallSeconds,
      onPage: () => onDone(BEFORE + (DRAWN - BEFORE) * ((all.length + ++done * 0.8) / Math.max(pages, all.length + PAGES_AT_ONCE))),
      signal,
    })
    pages = run.pages
    const pictures = run.drawn.map((page) => ({
      ...page,
      raw: rawOf(page.page),
      image: imageOf(page.page),
      thumbnail: thumbnailOf(page.page),
    }))
    await makeSlideImages({ pictures, thumbnailSide: slideLimits.thumbnailSide, scratch: folder, tools, limits: { stallSeconds }, signal })
    for (const { raw } of pictures) await rm(join(folder, raw), { force: true })
    all.push(...run.drawn)
    onDone(BEFORE + (DRAWN - BEFORE) * (all.length / pages))
  }
  return all
}
