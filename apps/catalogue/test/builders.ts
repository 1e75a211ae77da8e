import type { Organisation } from '../src/organisation-replica/organisation.ts'
import type { RenditionSet } from '../src/publishing/media/rendition-set.ts'
import { newRandomId } from '../src/rules/id.ts'
import type { Upload } from '../src/video/upload.ts'
import { createVideoFields, type VideoFields } from '../src/video/video-fields.ts'

export function createCall(idempotency?: { key: string; fingerprint: string }) {
  return { idempotency, signal: new AbortController().signal }
}

export function buildOrganisation(more: Partial<Organisation> = {}): Organisation {
  return { organisationId: '1', revision: 1, active: true, allowedIps: [], defaultSettingId: '', defaultThemeId: '', quota: {}, ...more }
}

export function createUpload(fields: Partial<VideoFields> = {}, more: Partial<Upload> = {}): Upload {
  return {
    videoId: newRandomId(),
    mediaId: newRandomId(),
    organisationId: '1',
    userId: '7',
    sourceUrl: 'https://example.org/launch.mp4',
    originalFilename: 'launch.mp4',
    fields: { ...createVideoFields('Launch'), ...fields },
    notify: true,
    startsWaiting: false,
    lowPriority: false,
    ...more,
  }
}

export function buildRenditionSet(jobId: string, more: Partial<RenditionSet> = {}): RenditionSet {
  return {
    jobId,
    prefix: `renditions/${jobId}`,
    durationSeconds: 12.48,
    width: 1280,
    height: 720,
    renditions: [{ key: 'h264_100', path: 'mp4/h264_100.mp4', width: 256, height: 144, bytes: 1000, bitrate: 90_000 }],
    hlsPath: 'hls/master.m3u8',
    posterPath: 'poster.jpg',
    thumbnailPath: 'thumbnail.jpg',
    thumbnails: [{ percent: 25, path: 'thumbnail-25.jpg' }],
    bytes: 5_000,
    hasVideo: true,
    hasAudio: true,
    storyboardPath: 'images/storyboard.vtt',
    previewPath: '',
    planNumber: 1,
    soundPath: 'sound.m4a',
    ...more,
  }
}
