import type { Db } from '@vitascope/postgres'
import type { Queue } from '@vitascope/queue'
import { LOW_PRIORITY_OFFSET } from '../engine/send-task.ts'
import { toJobId, toQueueKey } from '../job/job.ts'
import { lockJob } from '../job/job-store.ts'
import { MIN_PRIORITY } from '../task/task.ts'

const JOBS_PER_PASS = 100

/**
 * Raises low-priority jobs to normal priority, with all their tasks, if a task has waited for
 * longer than `maxWaitSeconds`. This prevents starvation under a constant load of normal work.
 * Returns their ids, longest wait first.
 */
export async function ageLowPriorityJobs({ db, queue }: { db: Db; queue: Queue }, maxWaitSeconds: number): Promise<string[]> {
  const waiting = await db.query<{ key: string }>(
    `select key from work_item where state = 'waiting' and priority < $1 and create_time < now() - $2::int * interval '1 second'
     group by key order by min(item_id) limit $3`,
    [MIN_PRIORITY, maxWaitSeconds, JOBS_PER_PASS],
  )
  const aged: string[] = []
  for (const { key } of waiting) {
    const jobId = toJobId(key)
    const raised = await db.transaction(async (tx) => {
      const job = await lockJob(tx, jobId)
      if (!job) return 0
      await tx.query('update job set low_priority = false where job_id = $1', [jobId])
      return queue.raise(tx, toQueueKey(jobId), { below: MIN_PRIORITY, by: LOW_PRIORITY_OFFSET })
    })
    if (raised > 0) aged.push(jobId)
  }
  return aged
}
