// npm run restore -- --from DIR [--verify]: into the empty VITASCOPE_DATA_DIR, or the empty database and storage that other settings name.
import { restoreCommand } from '../apps/standalone/src/backup/command.ts'
import { generate } from './generate.ts'

await generate()
process.exitCode = await restoreCommand(process.argv.slice(2))
