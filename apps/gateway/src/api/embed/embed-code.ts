import { type FrameSize, naturalHeight, responsiveStyle } from './frame-size.ts'

/** The embedded content and its size. */
export interface EmbedContent {
  /** Id of a video or a playlist. */
  id: string
  title: string
  size: FrameSize
  token?: string | undefined
  /** Design of the controls. */
  player?: string | undefined
}

/** Options of the script embed only. */
export interface ScriptOptions {
  /**
   * Id of the page element that contains the player. By default the player is placed at the script.
   */
  elementId?: string | undefined
  referrerUrl?: string | undefined
  presentation?: boolean | undefined
}

const SANDBOX = 'allow-scripts allow-same-origin allow-popups allow-popups-to-escape-sandbox allow-presentation allow-downloads'

/**
 * Returns the player as an iframe, without a script in the page. The embed script of the web pages
 * creates the same iframe.
 */
export function frameCode({ id, title, size, token, player }: EmbedContent, publicUrl: string): string {
  const isResponsive = size.height === undefined
  // The `height` attribute is for pages that remove styles. With styles, the height follows from
  // the width.
  const height = size.height ?? naturalHeight(size)
  const shape = isResponsive ? `${height === undefined ? '' : ';height:auto'};aspect-ratio:${size.ratio}` : ''
  return htmlElement('iframe', {
    src: playerUrl({ id, token, player }, publicUrl),
    title: title || 'Video',
    width: size.width,
    height,
    style: `border:0;max-width:100%${shape}`,
    sandbox: SANDBOX,
    allow: 'autoplay; fullscreen; picture-in-picture; encrypted-media; clipboard-write',
    allowfullscreen: '',
    loading: 'lazy',
  })
}

/**
 * Returns the player as an iframe that fills its container, up to the requested width. The
 * attributes `width` and `height` are for pages that remove styles.
 */
export function responsiveCode({ id, title, size, token, player }: EmbedContent, publicUrl: string): string {
  return htmlElement('iframe', {
    src: playerUrl({ id, token, player }, publicUrl),
    title: title || 'Video',
    width: size.width,
    height: naturalHeight(size),
    style: `border:0;${responsiveStyle(size)}`,
    sandbox: SANDBOX,
    allow: 'autoplay; fullscreen; picture-in-picture; encrypted-media; clipboard-write',
    allowfullscreen: '',
    loading: 'lazy',
  })
}

/**
 * Returns an element that shows the poster and loads the player after a click, and the script that
 * does so. Without scripts, the element is a link to the player.
 */
export function facadeCode({ id, title, size, token, player }: EmbedContent, options: ScriptOptions, publicUrl: string): string {
  const link = htmlElement('a', { href: playerUrl({ id, token, player }, publicUrl) }, escapeText(title || 'Video'))
  const facade = {
    'data-vitascope-video': id,
    'data-title': title || 'Video',
    'data-width': size.width,
    'data-ratio': size.ratio,
    'data-token': token,
    'data-player': player,
    'data-referrer-url': options.referrerUrl,
    'data-presentation': options.presentation ? 'true' : undefined,
  }
  return `${htmlElement('div', facade, link)}${htmlElement('script', { async: '', src: `${publicUrl}/player/embed.js` })}`
}

function playerUrl({ id, token, player }: Pick<EmbedContent, 'id' | 'token' | 'player'>, publicUrl: string): string {
  const address = new URL(`${publicUrl}/player/${id}`)
  if (token !== undefined) address.searchParams.set('token', token)
  if (player !== undefined) address.searchParams.set('player', player)
  return address.href
}

/**
 * Returns a script element that creates the iframe. All options are attributes, because a policy
 * may reject inline code.
 */
export function scriptCode({ id, title, size, token, player }: EmbedContent, options: ScriptOptions, publicUrl: string): string {
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
    'data-player': player,
    'data-presentation': options.presentation ? 'true' : undefined,
  })
}

/**
 * Returns an element that is safe in any page: `htmlElement('iframe', { src, title })`. Undefined
 * attributes are omitted. `content` is HTML.
 */
function htmlElement(
  name: 'iframe' | 'script' | 'div' | 'a',
  attributes: Readonly<Record<string, string | undefined>>,
  content = '',
): string {
  const attributeTexts = Object.entries(attributes).flatMap(([attribute, value]) =>
    value === undefined ? [] : value === '' ? [` ${attribute}`] : [` ${attribute}="${escapeText(value)}"`],
  )
  return `<${name}${attributeTexts.join('')}>${content}</${name}>`
}

/**
 * Escapes a value or a text, also for a page that embeds the code in a script string, where U+2028
 * may end a line.
 */
function escapeText(value: string): string {
  return value.replaceAll(/[&<>"'`\t\n\r\u2028\u2029]/g, (character) => `&#x${character.charCodeAt(0).toString(16)};`)
}
