import { SlideSet } from '@vitascope/proto/catalogue/v1/slide_set'
import type { Job } from '../job/job.ts'
import type { SlidesFile } from '../task/task.ts'

/**
 * Returns finished slides as they are reported to the catalogue: every page in order, with both
 * images. Throws if one is missing.
 */
export function toSlideSet({ jobId }: Pick<Job, 'jobId'>, prefix: string, files: readonly SlidesFile[]): SlideSet {
  const slides = files.flatMap((file) => (file.kind === 'slide' ? [file] : [])).sort((a, b) => a.page - b.page)
  const thumbnails = new Map(files.flatMap((file) => (file.kind === 'thumbnail' ? [[file.page, file.path]] : [])))
  const document = files.find((file) => file.kind === 'document')
  if (!document || slides.length === 0) throw new Error('the set has no slides, or no document')
  return SlideSet.fromPartial({
    jobId,
    prefix,
    slides: slides.map(({ page, path, width, height }, index) => {
      const thumbnailPath = thumbnails.get(page)
      if (page !== index + 1 || thumbnailPath === undefined) throw new Error(`the set has no image of page ${index + 1}`)
      return { path, thumbnailPath, width, height }
    }),
    documentPath: document.path,
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
  })
}
