import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** Result of a command of `npm run`. */
export interface CommandEnd {
  code: number | null
  stdout: string
  stderr: string
}

/** Runs the program of `npm run NAME` with only these Vitascope settings. */
export async function runTool(name: string, args: readonly string[], env: Record<string, string>): Promise<CommandEnd> {
  const tool = fileURLToPath(new URL(`../../tools/${name}.ts`, import.meta.url))
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([key]) => !key.startsWith('VITASCOPE_')))
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', tool, ...args], {
    env: { ...inherited, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  child.stdout.on('data', (data: Buffer) => (output.stdout += data))
  child.stderr.on('data', (data: Buffer) => (output.stderr += data))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, ...output }
}
