import { parseArgs } from 'node:util'
import type { ReportFigure } from '../figure.ts'
import { compareReads } from './reads.ts'
import { compareWaitingJobs } from './waiting-jobs.ts'

const ROWS = ['videos', 'organisations', 'waiting-jobs'] as const

/** Compares the same work on a small and on a large platform. */
export async function bench(args: string[], report: ReportFigure): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string' },
      pairs: { type: 'string', default: '7' },
      seconds: { type: 'string', default: '4' },
      videos: { type: 'string', default: '1000000' },
      organisations: { type: 'string', default: '200' },
      jobs: { type: 'string', default: '1000' },
    },
  })
  const [pairs, seconds, videos, organisations, jobs] = [
    values.pairs,
    values.seconds,
    values.videos,
    values.organisations,
    values.jobs,
  ].map(Number)
  if (!pairs || !seconds || !videos || !organisations || !jobs) throw new Error('every option except --only must be a number above 0')
  for (const row of ROWS.filter((name) => values.only === undefined || values.only === name)) {
    if (row === 'videos') await compareReads({ row, large: { videos, organisations: 1 }, pairs, seconds }, report)
    else if (row === 'organisations')
      await compareReads({ row, large: { videos: organisations * 1_000, organisations }, pairs, seconds }, report)
    else await compareWaitingJobs({ jobs, pairs, seconds }, report)
  }
}
