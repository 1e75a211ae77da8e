import type { CaptionSize, CaptionStyle } from './viewer-preferences.ts'

const sizes: Readonly<Record<CaptionSize, number>> = { small: 0.75, medium: 1, large: 1.4, veryLarge: 1.9 }
const styles: Readonly<Record<CaptionStyle, string>> = {
  captionStyleBox: 'color: #fff; background: #000c;',
  captionStyleContrast: 'color: #ff0; background: #000;',
  captionStyleOutline: 'color: #fff; background: #0000; text-shadow: 0 0 4px #000, 0 1px 3px #000, 1px 0 2px #000, -1px 0 2px #000;',
}

/** Returns the style rule of captions. */
export function toCueRule(size: CaptionSize, style: CaptionStyle): string {
  return `video::cue { font-size: ${sizes[size]}em; ${styles[style]} }`
}
