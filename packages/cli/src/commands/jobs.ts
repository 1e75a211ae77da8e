import { setTimeout as delay } from 'node:timers/promises'
import type { Context } from '../context.ts'
import { formatBar, printObject } from '../output.ts'

type Job = Awaited<ReturnType<Context['vitascope']['jobs']['get']>>

const INTERVAL_MS = 1_000
const ENDED: ReadonlySet<string> = new Set(['ok', 'failed', 'cancelled'])

export async function showJob(jobId: string, { vitascope, output }: Context): Promise<void> {
  printJob(await vitascope.jobs.get(jobId), output)
}

/** Follows a job until it ends. Returns true if it succeeded. */
export async function watchJob(jobId: string, { vitascope, output, signal }: Context): Promise<boolean> {
  for (;;) {
    const job = await vitascope.jobs.get(jobId)
    output.status(`job ${jobId}  ${job.state}  ${formatBar(job.progress / 100)}`)
    if (ENDED.has(job.state)) {
      printJob(job, output)
      return job.state === 'ok'
    }
    await delay(INTERVAL_MS, undefined, { signal })
  }
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
