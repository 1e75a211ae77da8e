import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { findFfmpeg } from '@vitascope/media'
import type { ReportFigure } from '../figure.ts'
import type { BenchRun } from './bench-run.ts'
import { benchCopy } from './copy.ts'
import { benchCpu } from './cpu.ts'
import { benchFirst } from './first.ts'
import { benchKill } from './kill.ts'
import { benchLadder } from './ladder.ts'

const rows: Readonly<Record<string, (run: BenchRun) => Promise<void>>> = {
  cpu: benchCpu,
  ladder: benchLadder,
  first: benchFirst,
  kill: benchKill,
  copy: benchCopy,
}

/** Runs all rows, or the one of `--only`. */
export async function bench(args: string[], report: ReportFigure): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string' },
      pairs: { type: 'string', default: '7' },
      ffmpeg: { type: 'string' },
      keep: { type: 'boolean' },
    },
  })
  if (values.only !== undefined && !rows[values.only]) throw new Error(`--only must be one of: ${Object.keys(rows).join(', ')}`)
  const pairs = Math.max(1, Number.parseInt(values.pairs, 10) || 1)
  const tools = await findFfmpeg({ path: values.ffmpeg })
  const folder = await mkdtemp(join(tmpdir(), 'vitascope-bench-encode-'))
  await chmod(folder, 0o755)
  try {
    for (const [name, row] of Object.entries(rows)) {
      if (values.only !== undefined && values.only !== name) continue
      const workFolder = join(folder, name)
      await mkdir(workFolder)
      await row({ pairs, tools, folder: workFolder, report })
    }
  } finally {
    if (values.keep) console.log(`kept: ${folder}`)
    else await rm(folder, { recursive: true, force: true })
  }
}
