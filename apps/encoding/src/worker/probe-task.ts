import { probeSource } from '@vitascope/media'
import type { ProbeInput, ProbeResult } from '../work/task.ts'
import type { TaskWork } from './task-work.ts'

/** Looks at a source; what it is, and with which build it would be encoded. */
export async function probeTask(work: TaskWork, { source, maxSeconds }: ProbeInput): Promise<ProbeResult> {
  const { tools, scratch, signal, stallSeconds } = work
  const probe = await probeSource({
    source: await work.getSource(source, 0),
    scratch,
    tools,
    limits: { maxSeconds },
    runLimits: { stallSeconds },
    signal,
  })
  return { probe, build: { version: tools.version, toneMap: tools.toneMap, codecs: tools.codecs } }
}
