// npm run restore -- --from DIR [--verify]: restores into the empty VITASCOPE_DATA_DIR, or into the
// empty database and storage of other settings.
import { restoreCommand } from '../apps/backup/src/command.ts'
import { generate } from './lib/generate.ts'

await generate()
process.exitCode = await restoreCommand(process.argv.slice(2))
