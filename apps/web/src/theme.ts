import { asObject, asText } from './json-values.ts'

/** Colours by CSS variable name, without those that the theme does not set. */
export type Theme = Readonly<Record<string, string>>

const variables: Readonly<Record<string, string>> = {
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
  const colours = Object.entries(variables).map(([name, variable]) => [variable, asText(theme[name])] as const)
  return Object.fromEntries(colours.filter(([, colour]) => /^#[0-9a-f]{6}$/i.test(colour)))
}

/** Every CSS variable that a theme can set. */
export const themeVariables: readonly string[] = Object.values(variables)
