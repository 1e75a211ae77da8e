import { invalid } from '@vitascope/errors'
import { text } from './fields.ts'
import type { Context } from './route.ts'

/** The address of a source in a payload; what it leads to is judged by `checkSourceAddress`, and again when it is fetched. */
export const sourceAddress = (description: string) =>
  text(4_096, { min: 1 }, { description, format: 'uri', example: 'https://media.example.org/launch.mp4' })

/** Refuses what the address itself shows: scheme, port, a literal address that is not public, credentials in it. */
export function checkSourceAddress(field: string, url: string, { checkSource }: Pick<Context, 'checkSource'>): void {
  const problems = checkSource(url)
  if (problems.length > 0) throw invalid([{ field, message: problems.join('; ') }])
}
