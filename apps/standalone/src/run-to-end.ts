import { spawn } from 'node:child_process'
import type { ChildSpec } from './child.ts'
import type { LogPrinter } from './log-printer.ts'
import { StartRefused } from './start-refused.ts'

/**
 * Runs a migration process to its end. Its output is printed afterwards. Rejects with
 * `StartRefused` if it fails.
 */
export function runToEnd(spec: ChildSpec, print: LogPrinter): Promise<void> {
  return new Promise((resolve, reject) => {
    const said: string[] = []
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', spec.main], {
      env: spec.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => said.push(...data.toString().trim().split('\n')))
    child.once('error', reject)
    child.once('close', (code) => {
      for (const line of said) print.line(spec.name, line)
      if (code === 0) resolve()
      else reject(new StartRefused(`the tables of ${spec.name} could not be brought up to date: its messages are above`))
    })
  })
}
