import { posterImageNames } from '@vitascope/media'
import { type PosterImage, PosterSet } from '@vitascope/proto/catalogue/v1/poster_set'
import type { Job } from '../job/job.ts'
import type { PosterFile } from '../task/task.ts'

/** Returns the poster images as they are reported to the catalogue. Throws if one is missing. */
export function toPosterSet({ jobId }: Pick<Job, 'jobId'>, prefix: string, files: readonly PosterFile[]): PosterSet {
  const find = (name: string): PosterImage => {
    const file = files.find(({ path }) => path === name)
    if (!file) throw new Error(`the set has no ${name}`)
    return { path: file.path, width: file.width, height: file.height }
  }
  return PosterSet.create({ jobId, prefix, poster: find(posterImageNames.poster), thumbnail: find(posterImageNames.thumbnail) })
}
