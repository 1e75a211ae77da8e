// node apps/cli/src/main.ts COMMAND [OPTIONS]: runs a command of the product. The exit code is that
// of its program, 2 for an unknown command.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { COMMANDS, type Program } from './commands.ts'
import { dataFolder, readDatabaseUrl } from './config.ts'
import { formatHelp } from './help.ts'

const APPS = join(import.meta.dirname, '../..')
const NO_PLATFORM = 'no platform runs on the data folder: start it first, or set VITASCOPE_DATA_DIR or VITASCOPE_DATABASE_URL\n'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Whether this process has received one of the signals. */
let isInterrupted = false

process.exitCode = await main(process.argv.slice(2))

async function main([name = '', ...args]: readonly string[]): Promise<number> {
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (!command) {
    const isHelp = ['--help', '-h', 'help'].includes(name)
    const out = isHelp ? process.stdout : process.stderr
    out.write(isHelp || name === '' ? formatHelp() : `there is no command ${name}\n\n${formatHelp()}`)
    return isHelp ? 0 : 2
  }
  if (args.includes('--help')) {
    process.stdout.write(formatHelp(name))
    return 0
  }
  let failure = 0
  for (const program of command.programs) {
    const env = await buildEnvironment(program)
    if (env === undefined) {
      process.stderr.write(NO_PLATFORM)
      return 1
    }
    // A signal ends the whole command, so no further program starts.
    if (isInterrupted) return failure || 1
    failure = (await run(program, args, env)) || failure
  }
  return failure
}

/** Returns the environment of a program, or undefined if the database of its service is unknown. */
async function buildEnvironment({ service, defaults = {} }: Program): Promise<NodeJS.ProcessEnv | undefined> {
  const folder = dataFolder(process.env)
  const files = Object.fromEntries(Object.entries(defaults).map(([name, path]) => [name, join(folder, path)]))
  const env = { ...files, ...process.env }
  if (service === undefined) return env
  const url = await readDatabaseUrl(service, process.env)
  const name = `VITASCOPE_${service.toUpperCase()}_DATABASE_URL`
  return url === undefined ? undefined : { ...env, [name]: url, [`${name}_FILE`]: '' }
}

/** Runs a program on this terminal and forwards signals to it. Returns its exit code, 1 if a signal ended it. */
async function run({ path, args: first = [] }: Program, args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const options = ['--disable-warning=ExperimentalWarning', join(APPS, path), ...first, ...args]
  const child = spawn(process.execPath, options, { env, stdio: 'inherit' })
  const forward = (signal: NodeJS.Signals) => {
    isInterrupted = true
    child.kill(signal)
  }
  for (const signal of SIGNALS) process.on(signal, forward)
  const [code] = (await once(child, 'exit')) as [number | null]
  return code ?? 1
}
