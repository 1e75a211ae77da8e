import { type FieldError, invalid, notFound, requireValid } from '@vitascope/errors'
import type { Handlers } from '@vitascope/grpc'
import { requireSystemUser } from '@vitascope/principal'
import type { QueueJobServiceService } from '@vitascope/proto/encoding/v1/queue_job'
import { checkText, isId } from '@vitascope/request'
import type { QueueJobStore } from './queue-job-store.ts'

const MAX_NAME_LENGTH = 255
const MAX_DATA_BYTES = 65_536
const MAX_LEASE_SECONDS = 43_200

export function queueJobHandlers(jobs: QueueJobStore): Handlers<typeof QueueJobServiceService> {
  return {
    async addQueueJob({ jobName, priority, data }, call) {
      requireSystemUser(call.principal)
      const fields = findProblems({ jobName, priority, data })
      requireValid(fields)
      return { jobId: await jobs.add({ jobName, priority, data }, call) }
    },
    async popQueueJob({ leaseSeconds }, { principal, signal }) {
      requireSystemUser(principal)
      if (leaseSeconds < 0 || leaseSeconds > MAX_LEASE_SECONDS) {
        throw invalid([{ field: 'lease_seconds', message: `must be an integer from 0 to ${MAX_LEASE_SECONDS}` }])
      }
      return { job: await jobs.pop(leaseSeconds, signal) }
    },
    async deleteQueueJob({ jobId }, { principal, signal }) {
      requireSystemUser(principal)
      if (!isId(jobId) || !(await jobs.remove(jobId, signal))) throw notFound('queue job', jobId)
      return {}
    },
  }
}

function findProblems({ jobName, priority, data }: { jobName: string; priority: number; data: string }): FieldError[] {
  return [
    ...checkText('job_name', jobName, { min: 1, max: MAX_NAME_LENGTH }),
    ...(priority !== 1 && priority !== 10 ? [{ field: 'priority', message: 'must be 1 (low) or 10 (high)' }] : []),
    ...(Buffer.byteLength(data) > MAX_DATA_BYTES || !isJson(data)
      ? [{ field: 'data', message: `must be JSON of at most ${MAX_DATA_BYTES} bytes` }]
      : []),
  ]
}

function isJson(text: string): boolean {
  if (text === '') return true
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
