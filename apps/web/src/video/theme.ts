import { asObject, asText } from './json-values.ts'

/** Colours that the theme sets, by CSS variable name. */
export type Theme = Readonly<Record<string, string>>

const variablesByField: Readonly<Record<string, string>> = {
  background_colour: '--back',
  text_colour: '--ink',
  icon_colour: '--icon',
  control_bar_colour: '--bar',
  overlay_text_colour: '--overlay-ink',
  overlay_background_colour: '--overlay-back',
  overlay_link_colour: '--overlay-link',
}

export function readTheme(json: unknown): Theme {
  const theme = asObject(json)
  const colours = Object.entries(variablesByField).map(([name, variable]) => [variable, asText(theme[name])] as const)
  return Object.fromEntries(colours.filter(([, colour]) => /^#[0-9a-f]{6}$/i.test(colour)))
}

/** Every CSS variable that a theme can set. */
export const themeVariables: readonly string[] = Object.values(variablesByField)
