import { probeSource } from '@vitascope/media'
import type { ProbeInput, ProbeResult } from '../task/task.ts'
import type { TaskWork } from './task-work.ts'

/** Probes a source. Returns the result and the ffmpeg build that the worker would encode with. */
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
  return { kind: 'probe', probe, build: { version: tools.version, toneMap: tools.toneMap, codecs: tools.codecs } }
}
