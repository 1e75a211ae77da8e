/** Size of an iframe: digits (pixels) or percent. */
export interface FrameSize {
  width: string
  /**
   * Undefined if the height follows from the width by the ratio, even where the page is narrower
   * than the width.
   */
  height: string | undefined
  /** Aspect ratio such as `1280/720`. */
  ratio: string
}

interface Picture {
  width: number
  height: number
}

/**
 * Returns the requested size. Without a requested height the iframe keeps the aspect ratio of the
 * picture at every width.
 */
export function frameSize(requested: { width?: string | undefined; height?: string | undefined }, picture: Picture): FrameSize {
  const ratio = `${picture.width}/${picture.height}`
  const { width, height } = requested
  if (height === undefined) return { width: width ?? String(picture.width), height, ratio }
  if (width !== undefined) return { width, height, ratio }
  return { width: isPercent(height) ? '100%' : scaled(height, picture.width / picture.height), height, ratio }
}

/**
 * Returns the height in pixels that follows from the width, or undefined if the width depends on
 * the page.
 */
export function naturalHeight({ width, ratio }: FrameSize): string | undefined {
  const [pictureWidth = 16, pictureHeight = 9] = ratio.split('/').map(Number)
  return isPercent(width) ? undefined : scaled(width, pictureHeight / pictureWidth)
}

/**
 * Returns the style of an iframe that fills its container up to the width, and whose height follows
 * by the ratio.
 */
export function responsiveStyle({ width, ratio }: FrameSize): string {
  return isPercent(width) ? `width:${width};aspect-ratio:${ratio}` : `width:100%;max-width:${width}px;height:auto;aspect-ratio:${ratio}`
}

function isPercent(length: string): boolean {
  return length.endsWith('%')
}

function scaled(pixels: string, factor: number): string {
  return String(Math.max(1, Math.round(Number(pixels) * factor)))
}
