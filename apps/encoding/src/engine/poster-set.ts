import { posterImageNames } from '@vitascope/media'
import { PosterSet } from '@vitascope/proto/catalogue/v1/poster_set'
import type { Job } from '../job/job.ts'

/** Returns the images of a picture as they are reported to the catalogue. */
export function toPosterSet({ jobId }: Pick<Job, 'jobId'>, prefix: string): PosterSet {
  return PosterSet.create({ jobId, prefix, posterPath: posterImageNames.poster, thumbnailPath: posterImageNames.thumbnail })
}
