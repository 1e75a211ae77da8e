// npm run import-postcodes -- [--skip-bad] FILE: imports a GeoNames postal code file into the
// database of this machine's running platform.
// VITASCOPE_CATALOGUE_DATABASE_URL or VITASCOPE_DATABASE_URL selects another database. The default
// is that of VITASCOPE_DATA_DIR.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { databaseUrlOf, NO_PLATFORM } from './platform-environment.ts'

const command = join(import.meta.dirname, '../apps/catalogue/src/import-postcodes.ts')
const url = databaseUrlOf('catalogue')
if (url === undefined) {
  process.stderr.write(NO_PLATFORM)
  process.exitCode = 1
} else {
  const env = { ...process.env, VITASCOPE_CATALOGUE_DATABASE_URL: url, VITASCOPE_CATALOGUE_DATABASE_URL_FILE: '' }
  const args = ['--disable-warning=ExperimentalWarning', command, ...process.argv.slice(2)]
  process.exitCode = spawnSync(process.execPath, args, { env, stdio: 'inherit' }).status ?? 1
}
