import { normaliseAddress } from '@vitascope/security'
import { int, text } from '../../server/schema/fields.ts'

export const tokenLifetime = int({ min: 1, max: 86_400 }, { description: 'Lifetime of the token in seconds.', example: 3_600 })

/** The only address that may use a token; empty for every address. */
export const viewerAddress = text(
  45,
  {},
  {
    description: 'The only IP address that may use the token. If it is omitted or empty, every address may use it.',
    example: '192.0.2.7',
  },
)
  .refine((address) => address === '' || normaliseAddress(address) !== undefined, 'must be an IPv4 or IPv6 address')
  .default('')

export const playbackToken = text(2_048, {}, { description: 'Token of a private video. An invalid one is ignored.', example: 'AbC3…' })
