import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'

/** What `vitascope login` stores. */
export interface StoredSettings {
  url?: string
  key?: string
  organisation?: string
}

/** Returns the path of the file with the settings: below `XDG_CONFIG_HOME`, by default `~/.config`. */
export function settingsFile(env: NodeJS.ProcessEnv): string {
  return join(env['XDG_CONFIG_HOME'] || join(homedir(), '.config'), 'vitascope/config.json')
}

/** Returns the stored settings; none without a login. Throws if the file is not JSON. */
export async function readSettings(env: NodeJS.ProcessEnv): Promise<StoredSettings> {
  const json = await readJson(settingsFile(env))
  const read = (name: keyof StoredSettings) => (typeof json[name] === 'string' ? { [name]: json[name] } : {})
  return { ...read('url'), ...read('key'), ...read('organisation') }
}

/** Stores the settings in a file that only this user can read. */
export async function writeSettings(env: NodeJS.ProcessEnv, settings: StoredSettings): Promise<void> {
  await writeJson(settingsFile(env), settings)
}

export async function deleteSettings(env: NodeJS.ProcessEnv): Promise<void> {
  await rm(settingsFile(env), { force: true })
}

/** Reads a JSON object; an empty one if the file does not exist. */
export async function readJson(file: string): Promise<Record<string, unknown>> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw error
  }
  try {
    const json: unknown = JSON.parse(text)
    if (typeof json === 'object' && json !== null) return json as Record<string, unknown>
  } catch {
    // The message below says what to do.
  }
  throw new Error(`${file} is not a JSON object: delete it and run \`vitascope login\``)
}

export async function writeJson(file: string, json: object): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  await writeFile(file, `${JSON.stringify(json, undefined, 2)}\n`, { mode: 0o600 })
}
