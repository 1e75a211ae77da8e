import type { Overlay, VideoOverlay } from '@vitascope/proto/catalogue/v1/overlay'
import { z } from 'zod'
import { formatFlag, formatNumber, formatOptionalTimestamp, required, schema } from '../../server/schema/response-format.ts'

const minutes = (description: string) => schema.text(`${description}, \`MM:SS\`. Empty if there is none.`, '01:30')

/** An overlay in the video record. */
export const VideoOverlayResponse = z
  .object({
    overlay_id: schema.id('overlay'),
    show: z.object({
      at_end: schema.flag('`"1"` shows the overlay when the video has ended.'),
      during: z.object({ start: minutes('Start time'), end: minutes('End time') }),
    }),
    title: schema.text('Title of the overlay.', 'Tickets'),
    description: schema.text('Free text.', 'Tickets for the next launch'),
    image_path: schema.text('A path, or an http or https URL. Empty if there is no picture.', ''),
    link_text: schema.text('Text of the link.', 'Buy tickets'),
    link_action: schema.text('Action of a click, as a name that the player defines.', ''),
    link_url: schema.text('http or https URL of the link. Empty if there is no link.', 'https://tickets.example.org/'),
    link_target: schema.text('Window in which the link opens.', '_blank'),
    link_javascript_code: schema.text('Stored without changes. The player of this platform does not run it.', ''),
    language: schema.text('Language code. Empty for all languages.', 'en'),
    width: schema.number('Width in pixels.', '320'),
    height: schema.number('Height in pixels.', '180'),
  })
  .meta({ id: 'VideoOverlay', description: 'An overlay in the form that a player shows.' })

export const OverlayResponse = VideoOverlayResponse.extend({
  id: schema.id('overlay'),
  in_player_ad_id: schema.id('overlay'),
  associated_with_media_id: schema.text('Id of the media whose videos show the overlay. Empty if there is none.', '43'),
  organisation_id: schema.id('organisation'),
  disabled: schema.flag('`"1"` hides the overlay in players and lists.'),
  time_created: schema.timestamp('Time of creation.'),
  time_last_modified: schema.timestamp('Time of the last change.'),
}).meta({ id: 'Overlay', description: 'An overlay: text, image or link that the player shows over a video.' })

export function videoOverlayResponse(overlay: VideoOverlay): z.input<typeof VideoOverlayResponse> {
  return {
    overlay_id: overlay.overlayId,
    show: {
      at_end: formatFlag(overlay.atEnd),
      during: { start: minutesText(overlay.startSeconds), end: minutesText(overlay.endSeconds) },
    },
    title: overlay.title,
    description: overlay.description,
    image_path: overlay.imagePath,
    link_text: overlay.linkText,
    link_action: overlay.linkAction,
    link_url: overlay.linkUrl,
    link_target: overlay.linkTarget,
    link_javascript_code: overlay.linkJavascriptCode,
    language: overlay.language,
    width: formatNumber(overlay.width),
    height: formatNumber(overlay.height),
  }
}

export function overlayResponse(overlay: Overlay): z.input<typeof OverlayResponse> {
  const response = videoOverlayResponse(required(overlay.shown, 'content of the overlay'))
  return {
    id: response.overlay_id,
    in_player_ad_id: response.overlay_id,
    ...response,
    associated_with_media_id: overlay.mediaId,
    organisation_id: overlay.organisationId,
    disabled: formatFlag(overlay.disabled),
    time_created: formatOptionalTimestamp(overlay.createTime),
    time_last_modified: formatOptionalTimestamp(overlay.updateTime),
  }
}

function minutesText(seconds: number | undefined): string {
  if (seconds === undefined) return ''
  return [Math.floor(seconds / 60), seconds % 60].map((part) => String(part).padStart(2, '0')).join(':')
}
