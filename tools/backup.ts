// npm run backup -- --to DIR [--without-secrets]: backs up the platform of VITASCOPE_DATA_DIR, or
// that of other settings, whether it runs or not.
import { backupCommand } from '../apps/backup/src/command.ts'

process.exitCode = await backupCommand(process.argv.slice(2))
