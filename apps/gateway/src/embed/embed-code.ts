import type { FrameSize } from './frame-size.ts'
import { htmlElement } from './html-element.ts'

/** What is embedded, and how. */
export interface Embedded {
  /** A video's or playlist's. */
  id: string
  title: string
  size: FrameSize
  token?: string | undefined
}

/** What only the script takes. */
export interface ScriptOptions {
  /** The element of the page that is filled; without it the player stands where the script does. */
  elementId?: string | undefined
  referrerUrl?: string | undefined
  player?: string | undefined
  presentation?: boolean | undefined
}

/** The player in a frame of its own, without any script in the page. The embed script of the web pages makes the same frame. */
export function frameCode({ id, title, size, token }: Embedded, publicUrl: string): string {
  const address = new URL(`${publicUrl}/player/${id}`)
  if (token !== undefined) address.searchParams.set('token', token)
  const shape = size.height === undefined ? `;aspect-ratio:${size.ratio}` : ''
  return htmlElement('iframe', {
    src: address.href,
    title: title || 'Video',
    width: size.width,
    height: size.height,
    style: `border:0;max-width:100%${shape}`,
    sandbox: 'allow-scripts allow-same-origin allow-popups allow-popups-to-escape-sandbox allow-presentation allow-downloads',
    allow: 'autoplay; picture-in-picture; encrypted-media; clipboard-write',
    allowfullscreen: '',
    loading: 'lazy',
  })
}

/** A script of ours that makes the frame. All that it needs stands in its attributes: there is no inline code that a policy could refuse. */
export function scriptCode({ id, title, size, token }: Embedded, options: ScriptOptions, publicUrl: string): string {
  return htmlElement('script', {
    async: '',
    src: `${publicUrl}/player/embed.js`,
    'data-id': id,
    'data-title': title || 'Video',
    'data-width': size.width,
    'data-height': size.height,
    'data-ratio': size.ratio,
    'data-token': token,
    'data-element-id': options.elementId,
    'data-referrer-url': options.referrerUrl,
    'data-player': options.player,
    'data-presentation': options.presentation ? 'true' : undefined,
  })
}
