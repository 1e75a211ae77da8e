// npm run sweep -- [--dry-run] [--json] [--older-than SECONDS]: compares the objects of this
// machine's running platform with its rows.
// VITASCOPE_ENCODING_DATABASE_URL or VITASCOPE_DATABASE_URL, VITASCOPE_STORAGE_DIR or
// VITASCOPE_S3_* select others than those of VITASCOPE_DATA_DIR.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { databaseUrlOf, dataFolder, NO_PLATFORM } from './platform-environment.ts'

const url = databaseUrlOf('encoding')
if (url === undefined) {
  process.stderr.write(NO_PLATFORM)
  process.exitCode = 1
} else {
  const env = {
    VITASCOPE_STORAGE_DIR: join(dataFolder, 'storage'),
    ...process.env,
    VITASCOPE_ENCODING_DATABASE_URL: url,
    VITASCOPE_ENCODING_DATABASE_URL_FILE: '',
  }
  const command = join(import.meta.dirname, '../apps/encoding/src/objects/sweep.ts')
  const args = ['--disable-warning=ExperimentalWarning', command, ...process.argv.slice(2)]
  process.exitCode = spawnSync(process.execPath, args, { env, stdio: 'inherit' }).status ?? 1
}
