import { type FieldError, invalid } from '@vitascope/errors'
import { checkText } from '../text.ts'

/** Colours are `#rrggbb`, or empty for the player's own. */
export interface ThemeFields {
  title: string
  skin?: string | undefined
  backgroundColour: string
  textColour: string
  iconColour: string
  controlBarColour: string
  overlayTextColour: string
  overlayBackgroundColour: string
  overlayLinkColour: string
}

export interface Theme extends ThemeFields {
  themeId: string
  organisationId: string
}

export const DEFAULT_THEME: ThemeFields = {
  title: '',
  skin: undefined,
  backgroundColour: '',
  textColour: '',
  iconColour: '',
  controlBarColour: '',
  overlayTextColour: '',
  overlayBackgroundColour: '',
  overlayLinkColour: '',
}

/** The fields by their names in masks, columns and the public API, in one order. */
export const THEME_PATHS: ReadonlyMap<string, keyof ThemeFields> = new Map([
  ['title', 'title'],
  ['skin', 'skin'],
  ['background_colour', 'backgroundColour'],
  ['text_colour', 'textColour'],
  ['icon_colour', 'iconColour'],
  ['control_bar_colour', 'controlBarColour'],
  ['overlay_text_colour', 'overlayTextColour'],
  ['overlay_background_colour', 'overlayBackgroundColour'],
  ['overlay_link_colour', 'overlayLinkColour'],
])

const LONGEST = 50

/** The fields with those that the mask names taken from `given`; refuses with every bad field at once. */
export function changeTheme(now: ThemeFields, given: ThemeFields, mask: readonly string[]): ThemeFields {
  const unknown = mask
    .filter((path) => !THEME_PATHS.has(path))
    .map((path) => ({ field: 'update_mask', message: `names no field: ${path.slice(0, 100)}` }))
  const keys = mask.flatMap((path) => THEME_PATHS.get(path) ?? [])
  const fields = { ...now, ...Object.fromEntries(keys.map((key) => [key, given[key]])) }
  const problems = [...unknown, ...checkTheme(fields)]
  if (problems.length > 0) throw invalid(problems)
  return fields
}

/** Everything that is wrong with a theme, under the public names. */
export function checkTheme(fields: ThemeFields): FieldError[] {
  return [...THEME_PATHS].flatMap(([path, key]) => {
    const value = fields[key] ?? ''
    if (key === 'title' || key === 'skin') return checkText(path, value, { max: LONGEST })
    return /^(#[0-9A-Fa-f]{6})?$/.test(value)
      ? []
      : [{ field: path, message: 'must be a colour in the form #rrggbb such as #1f2933, or empty' }]
  })
}
