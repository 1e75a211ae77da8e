import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { kubectlPath } from '@vitascope/testing'
import { kubeconfig } from './commands.ts'

/** How a pod that was deleted ended. */
export interface PodEnd {
  name: string
  exitCode: number
  /** From the moment when it was deleted, in whole seconds. */
  seconds: number
}

/** Sees the pods of a namespace end, from now on. */
export function watchEnds(namespace: string) {
  const ends = new Map<string, PodEnd>()
  const begun = new Map<string, number>()
  const columns = [
    'NAME:.metadata.name',
    'DELETED:.metadata.deletionTimestamp',
    'GRACE:.metadata.deletionGracePeriodSeconds',
    'CODE:.status.containerStatuses[0].state.terminated.exitCode',
    'FINISHED:.status.containerStatuses[0].state.terminated.finishedAt',
  ]
  const args = ['--kubeconfig', kubeconfig, 'get', 'pods', '--namespace', namespace, '--watch', '--no-headers', '-o']
  const child = spawn(kubectlPath() ?? 'kubectl', [...args, `custom-columns=${columns}`], { stdio: ['ignore', 'pipe', 'inherit'] })
  createInterface({ input: child.stdout }).on('line', (line) => {
    const [name = '', deleted = '', grace = '', code = '', finished = ''] = line.trim().split(/\s+/)
    if (deleted === '<none>') return
    // The first word counts: when all of it has ended it is deleted once more, without any grace.
    const since = Math.min(begun.get(name) ?? Number.POSITIVE_INFINITY, Date.parse(deleted) - Number(grace) * 1_000)
    begun.set(name, since)
    if (finished !== '<none>') ends.set(name, { name, exitCode: Number(code), seconds: (Date.parse(finished) - since) / 1_000 })
  })
  return {
    stop(): PodEnd[] {
      child.kill()
      return [...ends.values()]
    },
  }
}
