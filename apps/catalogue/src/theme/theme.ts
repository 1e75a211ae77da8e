import { type FieldError, requireValid } from '@vitascope/errors'
import { applyMask, checkText } from '@vitascope/request'

/** Colours are `#rrggbb`, or empty for the player's default. */
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
  updateTime: Date
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

/** Maps the names in masks, columns and the public API to fields, in a fixed order. */
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

const MAX_LENGTH = 50

/** Returns the fields `current` with the masked fields of `input`. Throws `invalid` with every invalid field. */
export function changeTheme(current: ThemeFields, input: ThemeFields, mask: readonly string[]): ThemeFields {
  const { fields, problems } = applyMask(current, input, mask, THEME_PATHS)
  requireValid([...problems, ...checkTheme(fields)])
  return fields
}

/** Returns the problems of a theme, with the proto field names. */
export function checkTheme(fields: ThemeFields): FieldError[] {
  return [...THEME_PATHS].flatMap(([path, key]) => {
    const value = fields[key] ?? ''
    if (key === 'title' || key === 'skin') return checkText(path, value, { max: MAX_LENGTH })
    return /^(#[0-9A-Fa-f]{6})?$/.test(value)
      ? []
      : [{ field: path, message: 'must be a colour in the form #rrggbb such as #1f2933, or empty' }]
  })
}
