import { english, type TextKey, type Texts } from './english.ts'

let current: Texts = english

/** Sets the texts that `text` returns. Call it before the player is built. */
export function setTexts(texts: Texts): void {
  current = texts
}

/** Returns a text in the language of the page, with its values. */
export function text(key: TextKey, values: Readonly<Record<string, string | number>> = {}): string {
  return current[key].replaceAll(/\{(\w+)\}/g, (placeholder, name: string) => String(values[name] ?? placeholder))
}
