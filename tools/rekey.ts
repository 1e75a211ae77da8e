// npm run rekey: encrypts the secrets in the databases of this machine's running platform with the
// first master key.
// VITASCOPE_AUTH_DATABASE_URL, VITASCOPE_CATALOGUE_DATABASE_URL or VITASCOPE_DATABASE_URL, and
// VITASCOPE_MASTER_KEY_FILE select others than those of VITASCOPE_DATA_DIR.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { databaseUrlOf, dataFolder, NO_PLATFORM } from './platform-environment.ts'

for (const service of ['auth', 'catalogue']) {
  const url = databaseUrlOf(service)
  if (url === undefined) {
    process.stderr.write(NO_PLATFORM)
    process.exitCode = 1
    break
  }
  const name = `VITASCOPE_${service.toUpperCase()}_DATABASE_URL`
  const env = {
    VITASCOPE_MASTER_KEY_FILE: join(dataFolder, 'secrets', 'master-key'),
    ...process.env,
    [name]: url,
    [`${name}_FILE`]: '',
  }
  const command = join(import.meta.dirname, `../apps/${service}/src/rekey.ts`)
  const { status } = spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', command], { env, stdio: 'inherit' })
  if (status !== 0) process.exitCode = status ?? 1
}
