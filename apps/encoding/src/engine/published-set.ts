import { type SetFile, type SetFileKind, setLayout } from '@vitascope/media'
import { RenditionSet } from '@vitascope/proto/catalogue/v1/rendition'
import { type Job, requirePlan } from '../job/job.ts'

/**
 * Returns the finished set as it is reported to the catalogue, from the plan and the verified
 * files.
 */
export function publishedSet(job: Job, prefix: string, files: readonly SetFile[]): RenditionSet {
  const plan = requirePlan(job)
  const video = job.probe?.video
  return RenditionSet.fromPartial({
    jobId: job.jobId,
    prefix,
    durationSeconds: plan.durationSeconds,
    width: plan.video ? (video?.width ?? 0) : 0,
    height: plan.video ? (video?.height ?? 0) : 0,
    renditions: plan.renditions
      .map(({ key, label }) => ({ label, file: findMp4(files, key) }))
      .sort((a, b) => a.label - b.label)
      .map(({ file }) => file),
    hlsPath: setLayout.master,
    ...(plan.images.length > 0 && {
      posterPath: setLayout.image('poster'),
      thumbnailPath: setLayout.image('thumbnail'),
      thumbnails: [25, 50, 75].map((percent) => ({ percent, path: setLayout.image(`thumb-${percent}`) })),
    }),
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
    hasVideo: plan.video !== undefined,
    hasAudio: plan.audio !== undefined,
    storyboardPath: findPath(files, 'storyboard'),
    previewPath: findPath(files, 'preview'),
    soundPath: findPath(files, 'sound'),
    planNumber: job.planNumber,
  })
}

function findMp4(files: readonly SetFile[], key: string) {
  const file = files.find((candidate) => candidate.kind === 'mp4' && candidate.key === key)
  if (!file) throw new Error(`the set has no file for ${key}`)
  const { path, width = 0, height = 0, bytes, bitrate = 0 } = file
  return { key, path, width, height, bytes, bitrate }
}

/**
 * Returns the path of the file of a kind. It is empty if there is none, because workers of an
 * earlier release create fewer kinds.
 */
function findPath(files: readonly SetFile[], kind: SetFileKind): string {
  return files.find((file) => file.kind === kind)?.path ?? ''
}
