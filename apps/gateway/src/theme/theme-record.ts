import { Theme } from '@vitascope/proto/catalogue/v1/theme'
import { z } from 'zod'
import { field, refuse } from '../field.ts'
import { clearable, text } from '../fields.ts'
import { shown } from '../public-form.ts'

const colours = {
  background_colour: 'Behind the picture.',
  text_colour: 'Of texts.',
  icon_colour: 'Of the buttons.',
  control_bar_colour: 'Of the bar that holds them.',
  overlay_text_colour: 'Of texts of overlays.',
  overlay_background_colour: 'Behind texts of overlays.',
  overlay_link_colour: 'Of links in overlays.',
}

const colour = (description: string) => shown.text(`${description} Empty for the player’s own.`, '#1f2933')
const colourField = (description: string) =>
  field(
    (value) =>
      typeof value === 'string' && /^(#[0-9A-Fa-f]{6})?$/.test(value)
        ? value
        : refuse('must be a colour in the form #rrggbb such as #1f2933, or empty'),
    z.string().meta({ pattern: '^(#[0-9A-Fa-f]{6})?$', maxLength: 7, description, example: '#1f2933' }),
  ).optional()

/** A theme, as the public API shows it. */
export const ThemeRecord = z
  .object({
    id: shown.id('theme'),
    title: shown.text('Its title.', 'Dark'),
    skin: z.string().nullable().meta({ description: 'A word for players; null for the player’s own.', example: 'flat' }),
    background_colour: colour(colours.background_colour),
    text_colour: colour(colours.text_colour),
    icon_colour: colour(colours.icon_colour),
    control_bar_colour: colour(colours.control_bar_colour),
    overlay_text_colour: colour(colours.overlay_text_colour),
    overlay_background_colour: colour(colours.overlay_background_colour),
    overlay_link_colour: colour(colours.overlay_link_colour),
  })
  .meta({ id: 'Theme', description: 'A theme: the colours of a player.' })

export function themeView(theme: Theme): z.input<typeof ThemeRecord> {
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

/** What POST and PUT of a theme take; no other field may be written. */
export const themeChanges = z.strictObject({
  title: text(50, {}, { description: 'Its title.', example: 'Dark' }).optional(),
  skin: clearable(text(50, {}, { description: 'A word for players; `""` or null for the player’s own.' })).optional(),
  background_colour: colourField(colours.background_colour),
  text_colour: colourField(colours.text_colour),
  icon_colour: colourField(colours.icon_colour),
  control_bar_colour: colourField(colours.control_bar_colour),
  overlay_text_colour: colourField(colours.overlay_text_colour),
  overlay_background_colour: colourField(colours.overlay_background_colour),
  overlay_link_colour: colourField(colours.overlay_link_colour),
})

export type ThemeChanges = z.output<typeof themeChanges>

/** The values; the names of those that were sent are the catalogue's own. */
export function themeValues(themeId: string, sent: ThemeChanges): Theme {
  return Theme.create({
    themeId,
    title: sent.title ?? '',
    skin: sent.skin ?? undefined,
    backgroundColour: sent.background_colour ?? '',
    textColour: sent.text_colour ?? '',
    iconColour: sent.icon_colour ?? '',
    controlBarColour: sent.control_bar_colour ?? '',
    overlayTextColour: sent.overlay_text_colour ?? '',
    overlayBackgroundColour: sent.overlay_background_colour ?? '',
    overlayLinkColour: sent.overlay_link_colour ?? '',
  })
}
