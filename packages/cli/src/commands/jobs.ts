import type { Job } from '@vitascope/sdk'
import type { Context } from '../context.ts'
import { formatBar, printObject } from '../output.ts'

const INTERVAL_MS = 1_000

export async function showJob(jobId: string, { vitascope, output }: Context): Promise<void> {
  printJob(await vitascope.jobs.get(jobId), output)
}

/** Follows a job until it ends. Returns true if it succeeded. */
export async function watchJob(jobId: string, { vitascope, output, signal }: Context): Promise<boolean> {
  const job = await vitascope.jobs.waitUntilEnded(jobId, {
    timeoutMs: Number.POSITIVE_INFINITY,
    intervalMs: INTERVAL_MS,
    signal,
    onProgress: ({ state, progress }) => output.status(`job ${jobId}  ${state}  ${formatBar(progress / 100)}`),
  })
  printJob(job, output)
  return job.state === 'ok'
}

export async function cancelJob(jobId: string, { vitascope, output }: Context): Promise<void> {
  printJob(await vitascope.jobs.cancel(jobId), output)
}

export async function retryJob(jobId: string, { vitascope, output }: Context): Promise<void> {
  printObject(output, { ...(await vitascope.jobs.retry(jobId)) })
}

function printJob(job: Job, output: Context['output']): void {
  if (output.isJson) {
    output.print(JSON.stringify(job))
    return
  }
  const { job_id, video_id, state, progress, error } = job
  printObject(output, { job_id, video_id, state, progress: `${progress} %`, ...(error && { error: `${error.code} ${error.message}` }) })
}
