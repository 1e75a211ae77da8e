import { DomainError, requireValid } from '@vitascope/errors'
import { parsePublicKey, type TokenAlgorithm } from '@vitascope/playback-policy'
import { applyMask, checkText } from '@vitascope/request'

/** A public key with which delivery verifies tokens of an organisation. */
export interface PlaybackKey extends PlaybackKeyFields {
  /** The `kid` of its tokens. */
  keyId: string
  organisationId: string
  algorithm: TokenAlgorithm
  /** SPKI in PEM. */
  publicKey: string
  createTime: Date
}

export interface PlaybackKeyFields {
  name: string
  /** If false, tokens of the key are rejected. */
  active: boolean
}

export type NewPlaybackKey = Pick<PlaybackKey, 'organisationId' | 'name' | 'active' | 'algorithm' | 'publicKey'>

/** Two active keys allow an organisation to replace a key while tokens of the previous key are still valid. */
export const MAX_ACTIVE_KEYS = 2
export const MAX_KEYS = 10
const MAX_NAME_CHARACTERS = 100
const MAX_KEY_CHARACTERS = 5_000
const PATHS = new Map<string, keyof PlaybackKeyFields>([
  ['name', 'name'],
  ['active', 'active'],
])

/** Parses the public key, which is PEM or a JWK. Throws `invalid` with every invalid field. */
export function checkNewKey<Fields extends PlaybackKeyFields & { publicKey: string }>(
  fields: Fields,
): Fields & Pick<PlaybackKey, 'algorithm' | 'publicKey'> {
  const nameProblems = checkName(fields.name)
  const lengthProblems = checkText('public_key', fields.publicKey, { min: 1, max: MAX_KEY_CHARACTERS })
  const parsed = lengthProblems.length > 0 ? undefined : parsePublicKey(fields.publicKey)
  const keyProblems = parsed?.error === undefined ? [] : [{ field: 'public_key', message: parsed.error }]
  requireValid([...nameProblems, ...lengthProblems, ...keyProblems])
  if (!parsed || parsed.error !== undefined) throw new Error('a public key without problems was not parsed')
  return { ...fields, ...parsed }
}

/** Returns `current` with the masked fields replaced by those of `input`. Throws `invalid` with every invalid field. */
export function mergeKey(current: PlaybackKeyFields, input: PlaybackKeyFields, mask: readonly string[]): PlaybackKeyFields {
  const { fields, problems } = applyMask({ name: current.name, active: current.active }, input, mask, PATHS)
  requireValid([...problems, ...checkName(fields.name)])
  return fields
}

export function playbackKeysFull(): DomainError {
  return new DomainError(
    'failed_precondition',
    'PLAYBACK_KEYS_FULL',
    `an organisation has at most ${MAX_KEYS} playback keys; delete one first`,
  )
}

export function tooManyActiveKeys(): DomainError {
  const text = `an organisation has at most ${MAX_ACTIVE_KEYS} active playback keys; deactivate one first`
  return new DomainError('failed_precondition', 'TOO_MANY_ACTIVE_KEYS', text)
}

export function playbackKeyExists(): DomainError {
  return new DomainError('exists', 'PLAYBACK_KEY_EXISTS', 'the organisation already has this public key')
}

function checkName(name: string) {
  return checkText('name', name, { max: MAX_NAME_CHARACTERS })
}
