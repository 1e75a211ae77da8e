import { invalid } from '@vitascope/errors'
import { VISIBILITIES } from '../upload/visibilities.ts'

const MAX_LENGTH = 8_192
const MAX_TEXT_LENGTH = 255

export interface UploadMetadata {
  title: string
  filename: string
  organisationId: string | undefined
  visibility: (typeof VISIBILITIES)[number]
  /** Content type of the file. Empty if it was not sent. */
  filetype: string
}

/**
 * Returns the known values of `Upload-Metadata`: pairs of a name and Base64 text, separated by
 * commas. Throws for a malformed header.
 */
export function readMetadata(header: string): UploadMetadata {
  const invalidHeader = (message: string) => invalid([{ field: 'Upload-Metadata', message }])
  if (header.length > MAX_LENGTH) throw invalidHeader(`must have at most ${MAX_LENGTH} characters`)
  const pairs = new Map<string, string>()
  for (const pair of header === '' ? [] : header.split(',')) {
    const [, name, text = ''] = /^\s*([\x21-\x2b\x2d-\x7e]+)(?: ([A-Za-z0-9+/]*={0,2}))?\s*$/.exec(pair) ?? []
    if (name === undefined || pairs.has(name)) throw invalidHeader('must be pairs of a name and a value in Base64, without repeated names')
    pairs.set(name, Buffer.from(text, 'base64').toString())
  }
  const text = (name: string) => {
    const value = (pairs.get(name) ?? '').trim()
    if (/\0|\ufffd/.test(value) || [...value].length > MAX_TEXT_LENGTH)
      throw invalidHeader(`${name} must be a text of at most ${MAX_TEXT_LENGTH} characters`)
    return value
  }
  const filename = text('filename').split(/[/\\]/).at(-1) ?? ''
  const requested = pairs.get('visibility') ?? 'public'
  const visibility = VISIBILITIES.find((known) => known === requested)
  if (!visibility) throw invalidHeader(`visibility must be one of ${VISIBILITIES.join(', ')}`)
  return {
    title: text('title') || filename,
    filename: filename || 'video',
    organisationId: pairs.get('organisation_id'),
    visibility,
    filetype: text('filetype'),
  }
}
