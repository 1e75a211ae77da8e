// node apps/backup/src/main.ts backup --to DIR | restore --from DIR …: the same as `npm
// run backup` and `npm run restore`, for environments without npm such as the images.
import { backupCommand, restoreCommand } from './command.ts'

const USAGE = 'backup --to DIR [--keep N] [--without-secrets] | restore --from DIR [--at TIME] [--verify] | restore --from DIR --list'
const commands: Readonly<Record<string, (args: readonly string[]) => Promise<number>>> = { backup: backupCommand, restore: restoreCommand }
const [commandName = '', ...args] = process.argv.slice(2)
const command = Object.hasOwn(commands, commandName) ? commands[commandName] : undefined
if (!command) process.stderr.write(`usage: ${USAGE}\n`)
process.exitCode = command ? await command(args) : 2
