import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generate } from '../../tools/lib/generate.ts'
import { runJest, testFiles } from '../../tools/lib/jest-run.ts'
import { toolEnvironment } from '../../tools/lib/run-command.ts'
import { provideTestPrograms } from '../../tools/lib/test-programs.ts'
import { startApiAlone } from './api-alone.ts'
import { apiList } from './api-list.ts'
import { provideCertManager } from './cert-manager.ts'
import type { ClusterLocation } from './control-plane.ts'
import { startDocker } from './docker.ts'
import { formatPeaks, watchPeaks } from './node/peaks.ts'
import { startWithNode } from './with-node.ts'

// npm run test:cluster [-- path …]: runs the tests `*.cluster.test.ts`, one file after another, on
// a Kubernetes API that is started on this machine. The first run builds it.
// npm run test:cluster -- --node [path …]: runs the tests `*.node.test.ts` on a Kubernetes with a
// node, which needs root. At the end it prints the peak use of containers of each kind.
// npm run test:cluster -- --docker [path …]: runs the tests `*.docker.test.ts` on a separate Docker
// daemon, which needs root.
const levels = { '--node': 'node', '--docker': 'docker' } as const
const filters = process.argv.slice(2).filter((word) => !(word in levels))
const on = Object.entries(levels).find(([option]) => process.argv.includes(option))?.[1] ?? 'cluster'
await generate()
const files = testFiles({ long: false, on, filters })
await provideTestPrograms(files)
// Prepared before the time limit of a test starts.
if (files.some((file) => readFileSync(file, 'utf8').includes('startCertManager'))) await provideCertManager()
const folder = mkdtempSync(join(tmpdir(), 'vitascope-test-cluster-'))
const cluster = await { node: startWithNode, cluster: startApiAlone, docker: startDocker }[on](join(folder, 'cluster'))
try {
  const locationFile = join(folder, 'location.json')
  writeFileSync(locationFile, JSON.stringify(cluster.location))
  Object.assign(toolEnvironment, { VITASCOPE_TEST_CLUSTER: locationFile })
  const peaks = on === 'node' && 'kubeconfig' in cluster ? watchPeaks(createApiList(cluster.location)) : undefined
  const counts = await runJest({
    files,
    all: false,
    long: false,
    report: join(folder, 'report.json'),
    // All tests share one cluster, and some stop its API server.
    workers: 1,
  })
  if (peaks) console.log(formatPeaks(await peaks.stop()))
  for (const file of counts.notRun) console.error(`${file} was not run`)
  if (counts.failures.length > 0) console.log(`failed:\n${counts.failures.map((name) => `  ${name}`).join('\n')}`)
  const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : ''
  console.log(`${counts.passed} passed, ${counts.failed + counts.notRun.length} failed${skipped}`)
  process.exitCode = counts.failed + counts.notRun.length > 0 ? 1 : 0
} finally {
  await cluster.stop()
  rmSync(folder, { recursive: true, force: true })
}

function createApiList({ folder: clusterFolder, address, ports }: ClusterLocation) {
  const keys = { tokenFile: join(clusterFolder, 'keys/admin.token'), authorityFile: join(clusterFolder, 'keys/ca.crt') }
  return apiList({ server: `https://${address}:${ports.api}`, ...keys })
}
