import { type FieldError, requireValid } from '@vitascope/errors'
import { domainError } from '../../server/http/problem.ts'
import type { Pair } from '../../server/payload/urlencoded.ts'

export type OembedFormat = 'json' | 'xml'

/** Maximum size of the embedded player, in pixels. */
export interface MaxSize {
  width: number
  height: number
}

export interface OembedRequest {
  /** Id of the video or playlist. Undefined if the URL is not that of a player page. */
  id: string | undefined
  format: OembedFormat
  max: MaxSize
}

/**
 * Reads the query of an oEmbed request (oEmbed 1.0, section 2.2). Unknown parameters are ignored, as
 * consumers add their own. `requestedHost` is the host and port to which the request was sent. Throws
 * `invalid` with all bad fields, then `FORMAT_UNSUPPORTED`.
 */
export function readOembedRequest(query: readonly Pair[], publicUrl: string, requestedHost = ''): OembedRequest {
  const errors: FieldError[] = []
  const read = (field: string) => {
    const [value, ...more] = query.flatMap(([name, value]) => (name === field ? [value] : []))
    if (more.length > 0) errors.push({ field, message: 'must not be repeated' })
    return value
  }
  const readLength = (field: string) => {
    const value = read(field)
    if (value === undefined) return Number.POSITIVE_INFINITY
    if (!/^\d+$/.test(value) || Number(value) === 0) errors.push({ field, message: 'must be a positive integer (pixels)' })
    return Number(value)
  }
  const url = read('url')
  const format = read('format') ?? 'json'
  const max = { width: readLength('maxwidth'), height: readLength('maxheight') }
  if (url === undefined) errors.push({ field: 'url', message: 'is required; send the URL of a player page' })
  else if (!URL.canParse(url)) errors.push({ field: 'url', message: 'must be an http or https URL' })
  requireValid(errors)
  if (format !== 'json' && format !== 'xml') {
    throw domainError('invalid', 'FORMAT_UNSUPPORTED', 'this format is not supported; use json or xml')
  }
  return { id: findPageId(url ?? '', [new URL(publicUrl).host, requestedHost]), format, max }
}

/** Returns the URL of the oEmbed document of a player page. */
export function oembedUrl(id: string, format: OembedFormat, publicUrl: string): string {
  return `${publicUrl}/oembed?${new URLSearchParams({ url: `${publicUrl}/player/${id}`, format })}`
}

/**
 * Returns the id in the URL of a player page with one of the hosts. The query is ignored. Consumers
 * may have changed the scheme, so only the host and port are compared.
 */
function findPageId(url: string, hosts: readonly string[]): string | undefined {
  const { protocol, host, pathname } = new URL(url)
  if (!/^https?:$/.test(protocol) || !hosts.includes(host)) return undefined
  return /^\/player\/(\d{1,19})\/?$/.exec(pathname)?.[1]
}
