import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { kubectlPath } from '@vitascope/testing'
import { kubeconfig } from './commands.ts'
import { END_COLUMNS, type PodEnd, readEnds } from './read-ends.ts'

/** Records how pods of a namespace end. `stop` returns the ends since the start of the watch. */
export function watchEnds(namespace: string) {
  const reader = readEnds()
  const args = ['--kubeconfig', kubeconfig, 'get', 'pods', '--namespace', namespace, '--watch', '--no-headers', '-o']
  const child = spawn(kubectlPath() ?? 'kubectl', [...args, `custom-columns=${END_COLUMNS}`], { stdio: ['ignore', 'pipe', 'inherit'] })
  createInterface({ input: child.stdout }).on('line', reader.line)
  return {
    stop(): PodEnd[] {
      if (child.exitCode !== null) throw new Error(`the watch of pods ended unexpectedly with code ${child.exitCode}`)
      child.kill()
      return reader.ends()
    },
  }
}
