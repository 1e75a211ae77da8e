import { DomainError } from '@vitascope/errors'
import { createGrpcServer } from '@vitascope/grpc'
import { JobServiceService, type ReportJobRequest } from '@vitascope/proto/catalogue/v1/job'
import { Media, MediaServiceService, type ReplaceSourceRequest } from '@vitascope/proto/catalogue/v1/media'
import { QuotaServiceService } from '@vitascope/proto/catalogue/v1/quota'
import type { RenditionSet } from '@vitascope/proto/catalogue/v1/rendition'
import type { SlideSet } from '@vitascope/proto/catalogue/v1/slide_set'
import { VideoServiceService } from '@vitascope/proto/catalogue/v1/video'
import { createMetrics } from '@vitascope/telemetry'
import { testLog } from '@vitascope/testing'
import { testPrincipals } from '@vitascope/testing/principal-keys'

/** Replaces the catalogue: accepts and records reports. */
export interface StandInCatalogue {
  address: string
  reports: ReportJobRequest[]
  /** Jobs that the catalogue no longer needs, according to its responses. */
  unneeded: Set<string>
  /** Jobs that it does not know. */
  unknown: Set<string>
  /** Prefixes of sets that must not be deleted. */
  used: Set<string>
  /** If set, every call fails with this error. */
  error: DomainError | undefined
  /** Accepted sources that replace the one of a media. */
  replacements: ReplaceSourceRequest[]
  /** If set, creating a video from an upload fails with this error. */
  uploadError: DomainError | undefined
  /** Reserved bytes by upload id. */
  reservations: Map<string, { bytes: number; isOpen: boolean; lifetimeSeconds: number }>
  /** Total bytes that uploads may reserve. */
  quotaBytes: number
  published(jobId: string): RenditionSet[]
  slides(jobId: string): SlideSet[]
  failed(jobId: string): { code: number; message: string }[]
  /**
   * Progress by revision. Reports may arrive out of order, and the catalogue ignores older
   * revisions.
   */
  progress(jobId: string): number[]
  stop(): Promise<void>
}

export async function startCatalogue(): Promise<StandInCatalogue> {
  const server = createGrpcServer({ principals: testPrincipals(), log: testLog, metrics: createMetrics('catalogue') })
  const update = (jobId: string) => catalogue.reports.filter((report) => report.jobId === jobId).map((report) => report.update)
  const catalogue: StandInCatalogue = {
    address: '',
    reports: [],
    unneeded: new Set(),
    unknown: new Set(),
    used: new Set(),
    error: undefined,
    replacements: [],
    uploadError: undefined,
    reservations: new Map(),
    quotaBytes: Number.POSITIVE_INFINITY,
    published: (jobId) =>
      update(jobId).flatMap((one) => (one?.$case === 'published' && one.value.renditions ? [one.value.renditions] : [])),
    slides: (jobId) => update(jobId).flatMap((one) => (one?.$case === 'slidesMade' && one.value.slides ? [one.value.slides] : [])),
    failed: (jobId) => update(jobId).flatMap((one) => (one?.$case === 'failed' ? [one.value] : [])),
    progress: (jobId) =>
      catalogue.reports
        .filter((report) => report.jobId === jobId)
        .toSorted((a, b) => a.revision - b.revision)
        .flatMap(({ update: one }) => (one?.$case === 'progress' ? [one.value.percent] : [])),
    stop: () => server.drain(100),
  }
  const { reportJob, checkJobs, checkSets } = JobServiceService
  server.implement(
    { reportJob, checkJobs, checkSets },
    {
      async reportJob(report) {
        if (catalogue.error) throw catalogue.error
        if (catalogue.unknown.has(report.jobId)) throw new DomainError('not_found', 'JOB_NOT_FOUND', 'no such job')
        catalogue.reports.push(report)
        return { needed: !catalogue.unneeded.has(report.jobId) }
      },
      async checkJobs({ jobIds }) {
        return { neededJobIds: jobIds.filter((id) => !catalogue.unneeded.has(id) && !catalogue.unknown.has(id)) }
      },
      async checkSets() {
        return { usedPrefixes: [...catalogue.used] }
      },
    },
  )
  const { uploadVideo } = VideoServiceService
  server.implement(
    { uploadVideo },
    {
      async uploadVideo() {
        if (catalogue.uploadError) throw catalogue.uploadError
        return { videoId: '11', mediaId: '12', jobId: '13', status: undefined, repeatedCall: false }
      },
    },
  )
  const { getMedia, replaceSource } = MediaServiceService
  server.implement(
    { getMedia, replaceSource },
    {
      async getMedia({ mediaId }, { principal }) {
        if (mediaId !== '12' || principal.kind !== 'user' || principal.organisationId !== '2')
          throw new DomainError('not_found', 'MEDIA_NOT_FOUND', 'no such media')
        return { media: Media.create({ mediaId, organisationId: '2' }) }
      },
      async replaceSource(request) {
        if (catalogue.uploadError) throw catalogue.uploadError
        catalogue.replacements.push(request)
        return { videoId: '11', jobId: '14', status: undefined, repeatedCall: false }
      },
    },
  )
  const { reserveUpload, releaseUpload } = QuotaServiceService
  server.implement(
    { reserveUpload, releaseUpload },
    {
      async reserveUpload({ reservationId, replacesId, bytes, isOpen, lifetimeSeconds }) {
        const otherReservations = [...catalogue.reservations].filter(([id]) => id !== reservationId && id !== replacesId)
        if (otherReservations.reduce((sum, [, one]) => sum + one.bytes, bytes) > catalogue.quotaBytes) {
          throw new DomainError('exhausted', 'QUOTA_BYTES', 'the quota is used up')
        }
        catalogue.reservations.delete(replacesId)
        catalogue.reservations.set(reservationId, { bytes, isOpen, lifetimeSeconds })
        return {}
      },
      async releaseUpload({ reservationId }) {
        catalogue.reservations.delete(reservationId)
        return {}
      },
    },
  )
  catalogue.address = await server.listen('127.0.0.1:0')
  return catalogue
}
