import { Theme } from '@vitascope/proto/catalogue/v1/theme'
import { z } from 'zod'
import { field, reject } from '../../server/schema/field.ts'
import { clearable, text } from '../../server/schema/fields.ts'
import { schema } from '../../server/schema/response-format.ts'

const colours = {
  background_colour: 'Colour behind the picture.',
  text_colour: 'Colour of texts.',
  icon_colour: 'Colour of buttons.',
  control_bar_colour: 'Colour of the control bar.',
  overlay_text_colour: 'Colour of overlay texts.',
  overlay_background_colour: 'Colour behind overlay texts.',
  overlay_link_colour: 'Colour of links in overlays.',
}

const colour = (description: string) => schema.text(`${description} Empty if the player’s own colour applies.`, '#1f2933')
const colourField = (description: string) =>
  field(
    (value) =>
      typeof value === 'string' && /^(#[0-9A-Fa-f]{6})?$/.test(value)
        ? value
        : reject('must be a colour in the form #rrggbb such as #1f2933, or empty'),
    z.string().meta({ pattern: '^(#[0-9A-Fa-f]{6})?$', maxLength: 7, description, example: '#1f2933' }),
  ).optional()

/** A theme in the public API. */
export const ThemeResponse = z
  .object({
    id: schema.id('theme'),
    title: schema.text('Title of the theme.', 'Dark'),
    skin: z
      .string()
      .nullable()
      .meta({ description: 'Design of the controls: `akita`, `poodle` or `pug`. null and other names select `akita`.', example: 'pug' }),
    background_colour: colour(colours.background_colour),
    text_colour: colour(colours.text_colour),
    icon_colour: colour(colours.icon_colour),
    control_bar_colour: colour(colours.control_bar_colour),
    overlay_text_colour: colour(colours.overlay_text_colour),
    overlay_background_colour: colour(colours.overlay_background_colour),
    overlay_link_colour: colour(colours.overlay_link_colour),
  })
  .meta({ id: 'Theme', description: 'A theme: the colours and the skin of a player.' })

export function themeResponse(theme: Theme): z.input<typeof ThemeResponse> {
  return {
    id: theme.themeId,
    title: theme.title,
    skin: theme.skin ?? null,
    background_colour: theme.backgroundColour,
    text_colour: theme.textColour,
    icon_colour: theme.iconColour,
    control_bar_colour: theme.controlBarColour,
    overlay_text_colour: theme.overlayTextColour,
    overlay_background_colour: theme.overlayBackgroundColour,
    overlay_link_colour: theme.overlayLinkColour,
  }
}

/** Payload of POST and PUT of a theme. No other field is accepted. */
export const themeChanges = z.strictObject({
  title: text(50, {}, { description: 'Title of the theme.', example: 'Dark' }).optional(),
  skin: clearable(
    text(50, {}, { description: 'Design of the controls: `akita`, `poodle` or `pug`. `""`, null and other names select `akita`.' }),
  ).optional(),
  background_colour: colourField(colours.background_colour),
  text_colour: colourField(colours.text_colour),
  icon_colour: colourField(colours.icon_colour),
  control_bar_colour: colourField(colours.control_bar_colour),
  overlay_text_colour: colourField(colours.overlay_text_colour),
  overlay_background_colour: colourField(colours.overlay_background_colour),
  overlay_link_colour: colourField(colours.overlay_link_colour),
})

export type ThemeChanges = z.output<typeof themeChanges>

/**
 * Returns the message with the new values. Its update mask may list the public field names, because
 * the catalogue has the same names.
 */
export function themeValues(themeId: string, changes: ThemeChanges): Theme {
  return Theme.create({
    themeId,
    title: changes.title ?? '',
    skin: changes.skin ?? undefined,
    backgroundColour: changes.background_colour ?? '',
    textColour: changes.text_colour ?? '',
    iconColour: changes.icon_colour ?? '',
    controlBarColour: changes.control_bar_colour ?? '',
    overlayTextColour: changes.overlay_text_colour ?? '',
    overlayBackgroundColour: changes.overlay_background_colour ?? '',
    overlayLinkColour: changes.overlay_link_colour ?? '',
  })
}
