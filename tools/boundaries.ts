import { outboundProblems } from './outbound.ts'
import { root, runCommand } from './run-command.ts'
import { unlistedImports } from './workspace-imports.ts'

/** Who imports whom, held against .dependency-cruiser.mjs and every package.json, and who opens sockets; each problem as a line. */
export async function boundaryProblems(): Promise<string[]> {
  const { code, output } = await runCommand('depcruise', [
    '--config',
    '.dependency-cruiser.mjs',
    '--output-type',
    'err',
    'apps',
    'libs',
    'tools',
  ])
  const modules = Number(/(\d+) modules/.exec(output)?.[1] ?? 0)
  // Without @swc/core it sees no TypeScript, finds nothing wrong and passes.
  if (modules < 20) return [`dependency-cruiser looked at ${modules} modules only: is @swc/core installed?`, output]
  return [...(code === 0 ? [] : [output]), ...unlistedImports(root), ...outboundProblems(root)]
}
