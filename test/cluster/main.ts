import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from '../../tools/lib/run-command.ts'
import { startApiAlone } from './api-alone.ts'
import { stopControlPlane } from './control-plane.ts'
import { hasNode, startWithNode, stopWithNode } from './with-node.ts'

// npm run cluster -- up [--node] | down: starts a Kubernetes cluster for manual tests, which runs
// until `down`.
const folder = join(root, '.cache/cluster')
const locationFile = join(folder, 'location.json')
const [command, option] = process.argv.slice(2)

if (command === 'up' && (option === undefined || option === '--node')) {
  if (existsSync(locationFile)) throw new Error(`a cluster already runs; stop it by npm run cluster -- down (${folder})`)
  const cluster = option === '--node' ? await startWithNode(folder) : await startApiAlone(folder)
  mkdirSync(dirname(locationFile), { recursive: true })
  writeFileSync(locationFile, JSON.stringify(cluster.location))
  console.log(`export KUBECONFIG=${cluster.kubeconfig} PATH=${cluster.location.programs}:$PATH VITASCOPE_TEST_CLUSTER=${locationFile}`)
} else if (command === 'down' && option === undefined) {
  if (hasNode(folder)) await stopWithNode(folder)
  else await stopControlPlane(folder)
  rmSync(folder, { recursive: true, force: true })
} else {
  console.error('usage: npm run cluster -- up [--node] | down')
  process.exitCode = 2
}
