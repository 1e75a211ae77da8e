import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../tools/run-command.ts'
import { startApiAlone } from './api-alone.ts'
import { stopControlPlane } from './control-plane.ts'

// npm run cluster -- up | down: a Kubernetes API that stays until it is told to go, to try things out.
const folder = join(root, '.cache/cluster')
const place = join(folder, 'place.json')
const [what] = process.argv.slice(2)

if (what === 'up') {
  if (existsSync(place)) throw new Error(`there is one already: npm run cluster -- down ends it (${folder})`)
  const cluster = await startApiAlone(folder)
  writeFileSync(place, JSON.stringify(cluster.place))
  console.log(`export KUBECONFIG=${cluster.kubeconfig} PATH=${cluster.place.programs}:$PATH VITASCOPE_TEST_CLUSTER=${place}`)
} else if (what === 'down') {
  await stopControlPlane(folder)
  rmSync(folder, { recursive: true, force: true })
} else {
  console.error('usage: npm run cluster -- up | down')
  process.exitCode = 2
}
