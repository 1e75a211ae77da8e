import { DomainError } from '@vitascope/errors'
import { createGrpcServer, principalKey } from '@vitascope/grpc'
import { JobServiceService, type ReportJobRequest } from '@vitascope/proto/catalogue/v1/job'
import type { RenditionSet } from '@vitascope/proto/catalogue/v1/rendition'
import type { SlideSet } from '@vitascope/proto/catalogue/v1/slide_set'
import { VideoServiceService } from '@vitascope/proto/catalogue/v1/video'
import { createMetrics } from '@vitascope/telemetry'
import { testLog } from '@vitascope/testing'
import { SECRET } from './secret.ts'

/** Takes reports as catalogue does, and keeps all of them. */
export interface StandInCatalogue {
  address: string
  reports: ReportJobRequest[]
  /** Jobs that it does not want. */
  unwanted: Set<string>
  /** Jobs that it does not know. */
  unknown: Set<string>
  /** Prefixes of sets that are not to go. */
  used: Set<string>
  /** As long as it is set, every call is answered with it. */
  refusal: DomainError | undefined
  /** As long as it is set, no video is made of an upload. */
  uploadRefusal: DomainError | undefined
  published(jobId: string): RenditionSet[]
  slides(jobId: string): SlideSet[]
  failed(jobId: string): { code: number; message: string }[]
  progress(jobId: string): number[]
  stop(): Promise<void>
}

export async function startCatalogue(): Promise<StandInCatalogue> {
  const server = createGrpcServer({ principalKey: principalKey(SECRET), log: testLog, metrics: createMetrics('catalogue') })
  const news = (jobId: string) => catalogue.reports.filter((report) => report.jobId === jobId).map((report) => report.news)
  const catalogue: StandInCatalogue = {
    address: '',
    reports: [],
    unwanted: new Set(),
    unknown: new Set(),
    used: new Set(),
    refusal: undefined,
    uploadRefusal: undefined,
    published: (jobId) => news(jobId).flatMap((one) => (one?.$case === 'published' && one.value.renditions ? [one.value.renditions] : [])),
    slides: (jobId) => news(jobId).flatMap((one) => (one?.$case === 'slidesMade' && one.value.slides ? [one.value.slides] : [])),
    failed: (jobId) => news(jobId).flatMap((one) => (one?.$case === 'failed' ? [one.value] : [])),
    progress: (jobId) => news(jobId).flatMap((one) => (one?.$case === 'progress' ? [one.value.percent] : [])),
    stop: () => server.drain(100),
  }
  const { reportJob, checkJobs, checkSets } = JobServiceService
  server.implement(
    { reportJob, checkJobs, checkSets },
    {
      async reportJob(report) {
        if (catalogue.refusal) throw catalogue.refusal
        if (catalogue.unknown.has(report.jobId)) throw new DomainError('not_found', 'JOB_NOT_FOUND', 'no such job')
        catalogue.reports.push(report)
        return { wanted: !catalogue.unwanted.has(report.jobId) }
      },
      async checkJobs({ jobIds }) {
        return { wantedJobIds: jobIds.filter((id) => !catalogue.unwanted.has(id) && !catalogue.unknown.has(id)) }
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
        if (catalogue.uploadRefusal) throw catalogue.uploadRefusal
        return { videoId: '11', mediaId: '12', jobId: '13', status: undefined }
      },
    },
  )
  catalogue.address = await server.listen('127.0.0.1:0')
  return catalogue
}
