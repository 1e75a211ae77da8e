import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { Vitascope } from '@vitascope/sdk'
import { type Context, type GlobalOptions, UsageError } from '../context.ts'
import { printObject } from '../output.ts'
import { writeSettings } from '../settings.ts'

/** Checks a key and stores it for later commands. */
export async function login(
  address: string,
  { key: given, organisation }: GlobalOptions,
  { env, output }: Pick<Context, 'env' | 'output'>,
): Promise<void> {
  const url = address.replace(/\/+$/, '')
  const key = given ?? (env['VITASCOPE_KEY'] || (await readKey()))
  if (key === '') throw new UsageError('no key: enter it, or set --key or VITASCOPE_KEY')
  const vitascope = new Vitascope({ url, key })
  const { organisation_id, user_id } = await vitascope.call('getApiKey', { path: { api_key: key } })
  const stored = organisation ?? organisation_id
  await writeSettings(env, { url, key, ...(stored !== '' && { organisation: stored }) })
  printObject(output, { url, organisation_id: stored, user_id })
}

/** Reads a key without showing it, or from another program. */
async function readKey(): Promise<string> {
  if (!process.stdin.isTTY) return (await text(process.stdin)).trim()
  process.stderr.write('API key: ')
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output: silent, terminal: true })
  try {
    return (await lines.question('')).trim()
  } finally {
    lines.close()
    process.stderr.write('\n')
  }
}
