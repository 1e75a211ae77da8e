import { invalid } from '@vitascope/errors'
import type { CreateRenditionJobRequest } from '@vitascope/proto/encoding/v1/job'
import { PictureCodec } from '@vitascope/proto/encoding/v1/picture_codec'
import type { JobRequest } from '../job/job-messages.ts'
import { findProfile, type VideoCodec } from './profiles.ts'

const CODECS: Readonly<Record<VideoCodec, PictureCodec>> = {
  h264: PictureCodec.PICTURE_CODEC_H264,
  hevc: PictureCodec.PICTURE_CODEC_HEVC,
  av1: PictureCodec.PICTURE_CODEC_AV1,
}

/**
 * Returns the request message for encoding that adds a rendition to an existing set. Throws
 * `invalid` if the profile is unknown.
 */
export function toRenditionRequest(
  job: JobRequest,
  { setJobId, profileId }: NonNullable<JobRequest['rendition']>,
): CreateRenditionJobRequest {
  const profile = findProfile(profileId)
  if (!profile) throw invalid([{ field: 'profile_id', message: 'is not the id of a profile' }])
  const { jobId, mediaId, organisationId, maxBytes, lowPriority } = job
  const { videoCodec, label, width, height, audioBitrate } = profile
  return {
    ...{ jobId, mediaId, organisationId, setJobId },
    profile: { codec: CODECS[videoCodec], label, shortSide: Math.min(width, height), audioKbps: audioBitrate },
    maxBytes,
    lowPriority,
  }
}
