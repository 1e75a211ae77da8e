import { OTHER } from '../view/dimension.ts'

const HOST_PATTERN = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)+$/
/** Labels below which countries register domains, such as `co` in `example.co.uk`. */
const SECOND_LEVELS = new Set(['ac', 'co', 'com', 'edu', 'go', 'gob', 'gov', 'gouv', 'govt', 'mil', 'ne', 'net', 'nhs', 'or', 'org', 'sch'])

/**
 * Returns the registrable domain of a host in lower case: its last two labels, or its last three if the top-level
 * domain is that of a country and the label before it is one of `SECOND_LEVELS`. Returns `other` for an IP address, a host
 * without a domain and a text that is not a host, and `''` for an empty text.
 */
export function toReferrerDomain(host: string): string {
  if (host === '') return ''
  const name = host.toLowerCase().replace(/\.$/, '')
  const labels = name.split('.')
  const [top = '', second = ''] = labels.toReversed()
  if (!HOST_PATTERN.test(name) || /^\d+$/.test(top)) return OTHER
  const count = top.length === 2 && SECOND_LEVELS.has(second) && labels.length > 2 ? 3 : 2
  return labels.slice(-count).join('.')
}
