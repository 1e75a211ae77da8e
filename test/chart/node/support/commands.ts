import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { helmPath, kubectlPath } from '@vitascope/testing'
import type { ClusterLocation } from '../../../cluster/control-plane.ts'
import { toKubeconfigPath } from '../../../cluster/keys.ts'

const locationFile = process.env['VITASCOPE_TEST_CLUSTER']
if (locationFile === undefined) throw new Error('no cluster: run the tests with npm run test:cluster -- --node')
/** The cluster that was started for the tests. */
export const location = JSON.parse(readFileSync(locationFile, 'utf8')) as ClusterLocation
/** Path of the kubeconfig of the administrator. */
export const kubeconfig = toKubeconfigPath(location.folder, 'admin')

const execute = promisify(execFile)

/**
 * Runs kubectl or Helm as administrator of the cluster, with `input` as stdin, and returns its stdout. Throws an error
 * with stdout and stderr if it fails.
 */
async function run(program: string | undefined, args: readonly string[], input?: string): Promise<string> {
  if (program === undefined) throw new Error('helm or kubectl is not installed')
  const execution = execute(program, ['--kubeconfig', kubeconfig, ...args], { maxBuffer: 64 * 1024 * 1024 })
  execution.child.stdin?.end(input ?? '')
  try {
    return (await execution).stdout
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string }
    throw new Error(`${args.join(' ')}: ${stdout ?? ''}${stderr ?? ''}`, { cause: error })
  }
}

export const kubectl = (...args: string[]) => run(kubectlPath(), args)
export const helm = (...args: string[]) => run(helmPath(), args)

/** Creates or updates these objects. */
export async function apply(objects: readonly object[]): Promise<void> {
  const list = { apiVersion: 'v1', kind: 'List', items: objects }
  await run(kubectlPath(), ['apply', '-f', '-'], JSON.stringify(list))
}

/** Returns the JSON output of `kubectl get`. */
export async function readKubectlJson<T>(...args: string[]): Promise<T> {
  return JSON.parse(await kubectl('get', ...args, '-o', 'json')) as T
}
