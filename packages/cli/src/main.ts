import { VitascopeError } from '@vitascope/sdk'
import { CommanderError } from 'commander'
import { version } from '../package.json'
import { EXIT, UsageError } from './context.ts'
import { createProgram } from './program.ts'

const stop = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort(new Error('interrupted')))

const program = createProgram({
  env: process.env,
  signal: stop.signal,
  setExitCode(code) {
    process.exitCode = code
  },
  version,
})
try {
  await program.parseAsync()
} catch (error) {
  process.exitCode = report(error)
}

/** Prints an error, and returns the exit code. */
function report(error: unknown): number {
  // Commander has printed it.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
  if (stop.signal.aborted) return 130
  if (program.opts<{ json?: boolean }>().json && error instanceof VitascopeError) {
    const { code, status, detail, fields, requestId } = error
    console.error(JSON.stringify({ code, status, detail, fields, request_id: requestId }))
    return EXIT.failed
  }
  if (error instanceof VitascopeError) {
    console.error(`error: ${error.message}`)
    for (const { field, message } of error.fields) console.error(`  ${field}: ${message}`)
    return error.code === 'invalid_argument' ? EXIT.usage : EXIT.failed
  }
  console.error(`error: ${error instanceof Error ? error.message : String(error)}`)
  return error instanceof UsageError ? EXIT.usage : EXIT.failed
}
