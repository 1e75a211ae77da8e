import { invalid } from '@vitascope/errors'

const LONGEST = 8_192
const LONGEST_TEXT = 255

/** What `Upload-Metadata` says that we know: pairs of a name and a text in Base64, joined by commas. */
export function readMetadata(header: string): { title: string; filename: string; organisationId: string | undefined } {
  const bad = (message: string) => invalid([{ field: 'Upload-Metadata', message }])
  if (header.length > LONGEST) throw bad(`must have at most ${LONGEST} characters`)
  const pairs = new Map<string, string>()
  for (const pair of header === '' ? [] : header.split(',')) {
    const [, name, text = ''] = /^\s*([\x21-\x2b\x2d-\x7e]+)(?: ([A-Za-z0-9+/]*={0,2}))?\s*$/.exec(pair) ?? []
    if (name === undefined || pairs.has(name)) throw bad('must be pairs of a name and Base64, each name once')
    pairs.set(name, Buffer.from(text, 'base64').toString())
  }
  const text = (name: string) => {
    const value = (pairs.get(name) ?? '').trim()
    if (/\0|\ufffd/.test(value) || [...value].length > LONGEST_TEXT)
      throw bad(`${name} must be a text of at most ${LONGEST_TEXT} characters`)
    return value
  }
  const filename = text('filename').split(/[/\\]/).at(-1) ?? ''
  return { title: text('title') || filename, filename: filename || 'video', organisationId: pairs.get('organisation_id') }
}
