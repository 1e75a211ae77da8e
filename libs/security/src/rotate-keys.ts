import { randomBytes } from 'node:crypto'
import { type MasterKey, parseMasterKeys } from './master-keys.ts'
import { makeTokenKeys, parseTokenKeys } from './token-keys.ts'

/** Steps of a rotation. Each must be known to all processes before the next. */
export const ROTATION_STEPS = ['add', 'use', 'remove'] as const
export type RotationStep = (typeof ROTATION_STEPS)[number]

/**
 * Returns the text of a key file after a step: `add` appends a new key, `use` moves the last key to the front, and
 * `remove` keeps the first key only. `tokens` is the format of token keys, `lines` that of all others. Throws if the text
 * is invalid, contains 8 keys before `add`, or one key before `use` and `remove`.
 */
export function rotateKeys(text: string, format: 'tokens' | 'lines', step: RotationStep): string {
  return format === 'tokens' ? rotateTokenKeys(text, step) : rotateLines(text, step)
}

function rotateTokenKeys(text: string, step: RotationStep): string {
  parseTokenKeys(text)
  const entries = JSON.parse(text) as unknown[]
  const [created] = JSON.parse(makeTokenKeys()) as unknown[]
  const rotated = `${JSON.stringify(rotate(entries, step, () => created))}\n`
  parseTokenKeys(rotated)
  return rotated
}

function rotateLines(text: string, step: RotationStep): string {
  const keys = rotate<MasterKey>([...parseMasterKeys(text)], step, (present) => ({
    version: Math.max(...present.map(({ version }) => version)) + 1,
    secret: randomBytes(32).toString('base64url'),
  }))
  const rotated = keys.map(({ version, secret }) => `${version}:${secret}\n`).join('')
  parseMasterKeys(rotated)
  return rotated
}

function rotate<Key>(keys: readonly Key[], step: RotationStep, create: (present: readonly Key[]) => Key): Key[] {
  if (step === 'add') return [...keys, create(keys)]
  if (keys.length < 2) throw new Error(`there is one key, so there is none to ${step}: add a key first`)
  return step === 'use' ? [...keys.slice(-1), ...keys.slice(0, -1)] : keys.slice(0, 1)
}
