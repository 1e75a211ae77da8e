import type { Embed } from './embed-options.ts'

/**
 * Returns the frame of the `iframe` embed code. Styles are set one by one, because a
 * Content-Security-Policy never blocks that.
 */
export function createPlayerFrame(page: Document, embed: Embed): HTMLIFrameElement {
  const frame = page.createElement('iframe')
  frame.src = embed.src
  frame.title = embed.title
  frame.setAttribute(
    'sandbox',
    'allow-scripts allow-same-origin allow-popups allow-popups-to-escape-sandbox allow-presentation allow-downloads',
  )
  frame.allow = 'autoplay; fullscreen; picture-in-picture; encrypted-media; clipboard-write'
  frame.allowFullscreen = true
  frame.loading = 'lazy'
  frame.style.border = '0'
  frame.style.width = embed.width
  frame.style.maxWidth = '100%'
  if (embed.height === undefined) frame.style.aspectRatio = embed.ratio
  else frame.style.height = embed.height
  return frame
}
