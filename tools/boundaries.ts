import { root, runCommand } from './lib/run-command.ts'
import { outboundProblems } from './outbound.ts'
import { findUnlistedImports } from './workspace-imports.ts'

/**
 * Checks imports against the rules of dependency-cruiser and every package.json, the order of folders
 * in each app, and the use of sockets.
 * Returns one line per problem.
 */
export async function boundaryProblems(): Promise<string[]> {
  const cruises = [
    await cruise('.dependency-cruiser.mjs', ['apps', 'libs', 'packages', 'e2e', 'test', 'tools', 'deploy', 'bench']),
    await cruise('.dependency-cruiser-folders.mjs', ['apps']),
  ]
  return [...cruises.flat(), ...findUnlistedImports(root), ...outboundProblems(root)]
}

async function cruise(config: string, folders: string[]): Promise<string[]> {
  const { code, output } = await runCommand('depcruise', ['--config', config, '--output-type', 'err', ...folders])
  const modules = Number(/(\d+) modules/.exec(output)?.[1] ?? 0)
  // Without @swc/core, dependency-cruiser does not parse TypeScript and passes.
  if (modules < 20) return [`dependency-cruiser looked at ${modules} modules only: is @swc/core installed?`, output]
  return code === 0 ? [] : [output]
}
