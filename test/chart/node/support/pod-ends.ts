import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { kubectlPath } from '@vitascope/testing'
import { kubeconfig } from './commands.ts'
import { END_COLUMNS, type PodEnd, readEnds } from './read-ends.ts'

/**
 * Starts a watch that records how the deleted pods of a namespace end: exit code and duration. `stop` returns the ends
 * since the start of the watch. It throws if the watch has ended before.
 */
export function watchEnds(namespace: string) {
  const reader = readEnds()
  const args = ['--kubeconfig', kubeconfig, 'get', 'pods', '--namespace', namespace, '--watch', '--no-headers', '-o']
  const child = spawn(kubectlPath() ?? 'kubectl', [...args, `custom-columns=${END_COLUMNS}`], { stdio: ['ignore', 'pipe', 'inherit'] })
  createInterface({ input: child.stdout }).on('line', reader.line)
  return {
    stop(): PodEnd[] {
      const end = child.exitCode ?? child.signalCode
      if (end !== null) throw new Error(`the watch of pods ended unexpectedly: ${end}`)
      child.kill()
      return reader.ends()
    },
  }
}
