import { invalid } from '@vitascope/errors'
import type { Context } from '../../server/route/route.ts'
import { text } from '../../server/schema/fields.ts'

/**
 * The URL of a source in a payload. `checkSourceAddress` checks the URL, and the download checks
 * the resolved address.
 */
export const sourceAddress = (description: string) =>
  text(4_096, { min: 1 }, { description, format: 'uri', example: 'https://media.example.org/launch.mp4' })

/**
 * Throws if the URL itself is not allowed: its scheme, its port, a literal non-public address, or
 * credentials.
 */
export function checkSourceAddress(field: string, url: string, { checkSource }: Pick<Context, 'checkSource'>): void {
  const problems = checkSource(url)
  if (problems.length > 0) throw invalid([{ field, message: problems.join('; ') }])
}
