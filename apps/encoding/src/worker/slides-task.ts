import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { InvalidSource, linkSource, makeSlideImages, sandboxFor } from '@vitascope/media'
import { convertToPdf } from '../slides/convert-to-pdf.ts'
import { installRenderer, type RenderedPage, rawFile, renderPages } from '../slides/render-pages.ts'
import { PAGES_PER_RUN, slideLimits } from '../slides/slide-limits.ts'
import { sniffPresentation } from '../slides/sniff-presentation.ts'
import type { FilesResult, SlidesFile, SlidesInput } from '../task/task.ts'
import type { TaskWork } from './task-work.ts'
import { uploadFileList, uploadFiles } from './upload.ts'

/** Progress when the file is downloaded and converted to PDF. */
const CONVERTED_SHARE = 0.1
/** Progress when all pages are rendered. The images are uploaded then. */
const RENDERED_SHARE = 0.9

/**
 * Renders an image and a thumbnail of each page of a stored file, and uploads them with the list of
 * files.
 */
export async function slidesTask(work: TaskWork, { source, setPrefix, workPrefix }: SlidesInput): Promise<FilesResult> {
  const { storage, scratch, office, signal, setProgress } = work
  if (source.bytes > slideLimits.bytes) {
    throw new InvalidSource(4002, `this file is too large: the maximum is ${slideLimits.bytes / 2 ** 20} MiB`)
  }
  const file = await work.getSource(source, slideLimits.scratchBytes)
  const format = await sniffPresentation(file)
  const pdf = format === 'pdf' ? file : join(scratch, DOCUMENT)
  if (format !== 'pdf') await convertToPdf({ file, format, folder: join(scratch, 'office'), pdf, office, signal })
  setProgress(CONVERTED_SHARE)
  const folder = join(scratch, 'pages')
  const target = join(scratch, 'slides')
  await mkdir(target)
  const pages = await renderAll(work, pdf, { folder, target })
  const uploaded = await uploadFiles(
    storage,
    { folder: target, prefix: setPrefix, paths: pages.flatMap(({ page }) => [formatImageName(page), formatThumbnailName(page)]) },
    signal,
  )
  const document = await storage.put(`${setPrefix}/${DOCUMENT}`, { file: pdf }, { signal })
  setProgress(1)
  const stored = new Map(uploaded.map((file) => [file.path, file]))
  const list: SlidesFile[] = pages.flatMap(({ page, width, height }): SlidesFile[] => {
    const [image, thumbnail] = [stored.get(formatImageName(page)), stored.get(formatThumbnailName(page))]
    if (!image || !thumbnail) throw new Error(`the images of page ${page} were not uploaded`)
    return [
      { ...image, kind: 'slide', page, width, height },
      { ...thumbnail, kind: 'thumbnail', page },
    ]
  })
  list.push({ path: DOCUMENT, ...document, kind: 'document' })
  return { kind: 'files', list: await uploadFileList(storage, workPrefix, list, signal) }
}

const DOCUMENT = 'document.pdf'
const formatNumber = (page: number) => String(page).padStart(4, '0')
const formatImageName = (page: number) => `slide-${formatNumber(page)}.jpg`
const formatThumbnailName = (page: number) => `thumb-${formatNumber(page)}.jpg`

/**
 * Renders all pages as JPEGs into the target folder, in batches, so that the raw pixels of a long
 * file are never on disk all at once.
 */
async function renderAll(work: TaskWork, pdf: string, { folder, target }: { folder: string; target: string }): Promise<RenderedPage[]> {
  const { tools, signal, setProgress, stallSeconds } = work
  const until = performance.now() + slideLimits.renderSeconds * 1000
  await linkSource(pdf, folder, await sandboxFor(process.execPath))
  await installRenderer(folder)
  const all: RenderedPage[] = []
  for (let pages = 1; all.length < pages; ) {
    const from = all.length + 1
    const remainingSeconds = Math.ceil((until - performance.now()) / 1000)
    if (remainingSeconds <= 0)
      throw new InvalidSource(4002, `this file cannot be converted to slides: its first ${all.length} pages alone took too long to render`)
    let done = 0
    const run = await renderPages({
      folder,
      from,
      to: from + PAGES_PER_RUN - 1,
      wallSeconds: remainingSeconds,
      // The renderer reports nothing during a page, whereas ffmpeg reports twice per second.
      pageSeconds: 2 * stallSeconds,
      onPage: () =>
        setProgress(
          CONVERTED_SHARE +
            (RENDERED_SHARE - CONVERTED_SHARE) * ((all.length + ++done * 0.8) / Math.max(pages, all.length + PAGES_PER_RUN)),
        ),
      signal,
    })
    pages = run.pages
    const pictures = run.rendered.map((page) => ({
      ...page,
      raw: rawFile(page.page),
      image: formatImageName(page.page),
      thumbnail: formatThumbnailName(page.page),
    }))
    const { thumbnailSide } = slideLimits
    await makeSlideImages({ pictures, thumbnailSide, scratch: folder, target, tools, limits: { stallSeconds }, signal })
    all.push(...run.rendered)
    setProgress(CONVERTED_SHARE + (RENDERED_SHARE - CONVERTED_SHARE) * (all.length / pages))
  }
  return all
}
