import { root } from '../lib/run-command.ts'
import { setVersion } from './versions.ts'

const [, , version] = process.argv
try {
  if (version === undefined) throw new Error('npm run set-version -- X.Y.Z')
  setVersion(root, version)
  console.log(`set the version ${version}; next: npm run generate, then commit`)
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 1
}
