import { notFound } from '@vitascope/errors'
import { createGrpcServer } from '@vitascope/grpc'
import { Organisation, OrganisationServiceService, OrganisationStatus } from '@vitascope/proto/auth/v1/organisation'
import {
  type CreateJobRequest,
  type CreatePosterJobRequest,
  type CreateRenditionJobRequest,
  type CreateSlideJobRequest,
  Job,
  JobServiceService,
  JobState,
} from '@vitascope/proto/encoding/v1/job'
import { createMetrics } from '@vitascope/telemetry'
import { testLog } from '@vitascope/testing'
import { testPrincipals } from '@vitascope/testing/principal-keys'

export const masterSecret = 'a secret of these tests, long enough'

/** Fake of encoding. It accepts jobs by id, can be stopped, and can leave calls unanswered. */
export function encodingStandIn(address: string) {
  const state = {
    /** Every received call, including repeats. */
    calls: [] as string[],
    /** Accepted jobs, one entry per id. */
    jobs: new Map<string, CreateJobRequest>(),
    slideJobs: new Map<string, CreateSlideJobRequest>(),
    renditionJobs: new Map<string, CreateRenditionJobRequest>(),
    posterJobs: new Map<string, CreatePosterJobRequest>(),
    cancelled: new Set<string>(),
    /** If true, every job creation fails. */
    faulty: false,
  }
  // Functions that send the delayed responses. Undefined while responses are sent at once.
  let waitingCalls: (() => void)[] | undefined
  let server: ReturnType<typeof createGrpcServer> | undefined
  const result = async () => {
    if (waitingCalls) await new Promise<void>((resolve) => waitingCalls?.push(resolve))
    return {}
  }
  return {
    ...{ state, address },
    hold() {
      waitingCalls = []
    },
    release() {
      for (const resume of waitingCalls ?? []) resume()
      waitingCalls = undefined
    },
    async start() {
      server = createGrpcServer({ principals: testPrincipals(), log: testLog, metrics: createMetrics('encoding') })
      server.implement(JobServiceService, {
        createJob(request) {
          state.calls.push(`create ${request.jobId}`)
          if (state.faulty) throw new Error('a fault of this test')
          state.jobs.set(request.jobId, request)
          return result()
        },
        createSlideJob(request) {
          state.calls.push(`slides ${request.jobId}`)
          state.slideJobs.set(request.jobId, request)
          return result()
        },
        createRenditionJob(request) {
          state.calls.push(`rendition ${request.jobId}`)
          state.renditionJobs.set(request.jobId, request)
          return result()
        },
        createPosterJob(request) {
          state.calls.push(`poster ${request.jobId}`)
          state.posterJobs.set(request.jobId, request)
          return result()
        },
        cancelJob({ jobId }) {
          state.calls.push(`cancel ${jobId}`)
          state.cancelled.add(jobId)
          return result()
        },
        repeatReport: result,
        async findSource({ jobId }) {
          throw notFound('source', jobId)
        },
        async getJob({ jobId }) {
          if (!state.jobs.has(jobId)) throw notFound('job', jobId)
          return { job: Job.fromPartial({ jobId, state: JobState.JOB_STATE_ENCODING }) }
        },
      })
      await server.listen(address)
    },
    async stop() {
      await server?.drain(0)
      server = undefined
    },
  }
}

/** Fake of auth with the organisations 1 to 5. Organisation 4 is inactive. */
export async function authStandIn() {
  const server = createGrpcServer({ principals: testPrincipals(), log: testLog, metrics: createMetrics('auth') })
  const requested: string[] = []
  server.implement(
    { getOrganisation: OrganisationServiceService.getOrganisation },
    {
      async getOrganisation({ organisationId }) {
        requested.push(organisationId)
        if (!/^[1-5]$/.test(organisationId)) throw notFound('organisation', organisationId)
        const status =
          organisationId === '4' ? OrganisationStatus.ORGANISATION_STATUS_INACTIVE : OrganisationStatus.ORGANISATION_STATUS_ACTIVE
        return { organisation: Organisation.fromPartial({ organisationId, name: `Organisation ${organisationId}`, status, revision: 1 }) }
      },
    },
  )
  return { requested, address: await server.listen('127.0.0.1:0'), stop: () => server.drain(0) }
}
