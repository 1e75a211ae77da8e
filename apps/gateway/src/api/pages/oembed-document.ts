import { element, xmlDocument } from '../../server/http/xml.ts'
import { responsiveCode } from '../embed/embed-code.ts'
import type { MaxSize, OembedFormat } from './oembed-request.ts'
import type { ShareData } from './share-data.ts'

/** Seconds for which consumers may store the document. */
const CACHE_AGE_SECONDS = 3_600

/** An oEmbed response of the type `video`. Absent fields are undefined. */
export interface OembedDocument {
  version: '1.0'
  type: 'video'
  title: string
  provider_name: string
  provider_url: string
  cache_age: number
  thumbnail_url?: string
  thumbnail_width?: number
  thumbnail_height?: number
  width: number
  height: number
  html: string
}

/** Returns the oEmbed document of a player page whose player and thumbnail fit into the maximum size. */
export function oembedDocument(shared: ShareData, max: MaxSize, publicUrl: string): OembedDocument {
  const title = shared.title || 'Video'
  const { width, height } = fitInto(max, shared)
  const size = { width: String(width), height: undefined, ratio: `${shared.width}/${shared.height}` }
  const thumbnail = shared.images.find((image) => image.width <= max.width && image.height <= max.height)
  return {
    version: '1.0',
    type: 'video',
    title,
    provider_name: 'Vitascope',
    provider_url: publicUrl,
    cache_age: CACHE_AGE_SECONDS,
    ...(thumbnail && { thumbnail_url: thumbnail.url, thumbnail_width: thumbnail.width, thumbnail_height: thumbnail.height }),
    width,
    height,
    html: responsiveCode({ id: shared.id, title, size }, publicUrl),
  }
}

/** Returns the text and content type of a document in the requested format. */
export function formatOembed(document: OembedDocument, format: OembedFormat): { text: string; contentType: string } {
  if (format === 'json') return { text: JSON.stringify(document), contentType: 'application/json; charset=utf-8' }
  const fields = Object.entries(document).map(([name, value]) => element(name, {}, String(value)))
  return { text: xmlDocument(element('oembed', {}, ...fields)), contentType: 'text/xml; charset=utf-8' }
}

/** Returns the size reduced to the maximum, with the same aspect ratio and at least 1 pixel. */
function fitInto(max: MaxSize, { width, height }: MaxSize): MaxSize {
  const scale = Math.min(1, max.width / width, max.height / height)
  const scaled = (pixels: number, limit: number) => Math.max(1, Math.min(limit, Math.round(pixels * scale)))
  return { width: scaled(width, max.width), height: scaled(height, max.height) }
}
