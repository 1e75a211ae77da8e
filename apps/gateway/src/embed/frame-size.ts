/** The size of a frame in a page: digits (pixels) or percent. Without a height, that follows from the width by the ratio. */
export interface FrameSize {
  width: string
  height: string | undefined
  /** `1280/720`. */
  ratio: string
}

interface Picture {
  width: number
  height: number
}

/** What was asked for; what was left out follows from the picture's shape. */
export function frameSize(asked: { width?: string | undefined; height?: string | undefined }, picture: Picture): FrameSize {
  const ratio = `${picture.width}/${picture.height}`
  const { width, height } = asked
  if (width === undefined && height === undefined) return { width: String(picture.width), height: String(picture.height), ratio }
  if (width === undefined) return { width: isPercent(height) ? '100%' : scaled(height, picture.width / picture.height), height, ratio }
  if (height !== undefined || isPercent(width)) return { width, height, ratio }
  return { width, height: scaled(width, picture.height / picture.width), ratio }
}

function isPercent(length: string | undefined): boolean {
  return length?.endsWith('%') ?? false
}

function scaled(pixels: string | undefined, factor: number): string {
  return String(Math.max(1, Math.round(Number(pixels) * factor)))
}
