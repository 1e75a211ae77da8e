// npm run reconcile: rebuilds the analytics counts from the events of this machine's running
// platform, and prints the differences.
// VITASCOPE_ANALYTICS_DATABASE_URL or VITASCOPE_DATABASE_URL selects another database. The default
// is that of VITASCOPE_DATA_DIR.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { databaseUrlOf, NO_PLATFORM } from './platform-environment.ts'

const command = join(import.meta.dirname, '../apps/analytics/src/reconcile-main.ts')
const url = databaseUrlOf('analytics')
if (url === undefined) {
  process.stderr.write(NO_PLATFORM)
  process.exitCode = 1
} else {
  const env = { ...process.env, VITASCOPE_ANALYTICS_DATABASE_URL: url, VITASCOPE_ANALYTICS_DATABASE_URL_FILE: '' }
  process.exitCode = spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', command], { env, stdio: 'inherit' }).status ?? 1
}
