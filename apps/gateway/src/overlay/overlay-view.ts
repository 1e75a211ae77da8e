import type { Overlay, VideoOverlay } from '@vitascope/proto/catalogue/v1/overlay'
import { z } from 'zod'
import { flagText, given, numberText, shown, timestampText } from '../public-form.ts'

const minutes = (description: string) => shown.text(`${description}, \`MM:SS\`; empty for none.`, '01:30')

/** An overlay in the video record. */
export const VideoOverlayRecord = z
  .object({
    overlay_id: shown.id('overlay'),
    show: z.object({
      at_end: shown.flag('`"1"` shows it when the video has ended.'),
      during: z.object({ start: minutes('From when'), end: minutes('Until when') }),
    }),
    title: shown.text('Its title.', 'Tickets'),
    description: shown.text('Free text.'),
    image_path: shown.text('A path, or an http or https address; empty for no picture.'),
    link_text: shown.text('Free text.'),
    link_action: shown.text('What a click does, in words of the player’s.'),
    link_url: shown.text('An http or https address; empty for no link.', 'https://tickets.example.org/'),
    link_target: shown.text('Where the link opens.', '_blank'),
    link_javascript_code: shown.text('As it came in. The player of this platform never runs it.'),
    language: shown.text('Language code; empty for all.', 'en'),
    width: shown.number('Pixels.', '320'),
    height: shown.number('Pixels.', '180'),
  })
  .meta({ id: 'VideoOverlay', description: 'An overlay as a player shows it.' })

export const OverlayRecord = VideoOverlayRecord.extend({
  in_player_ad_id: shown.id('overlay'),
  associated_with_media_id: shown.text('Id of the media whose videos show it; empty for none.', '4611686018427387905'),
  organisation_id: shown.id('organisation'),
  disabled: shown.flag('`"1"` shows it nowhere, and lists it nowhere.'),
  time_created: shown.timestamp('When it was created.'),
  time_last_modified: shown.timestamp('When it was last changed.'),
}).meta({ id: 'Overlay', description: 'An overlay.' })

export function videoOverlayView(overlay: VideoOverlay): z.input<typeof VideoOverlayRecord> {
  return {
    overlay_id: overlay.overlayId,
    show: {
      at_end: flagText(overlay.atEnd),
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
    width: numberText(overlay.width),
    height: numberText(overlay.height),
  }
}

export function overlayView(overlay: Overlay): z.input<typeof OverlayRecord> {
  const view = videoOverlayView(given(overlay.shown, 'what an overlay shows'))
  return {
    in_player_ad_id: view.overlay_id,
    ...view,
    associated_with_media_id: overlay.mediaId,
    organisation_id: overlay.organisationId,
    disabled: flagText(overlay.disabled),
    time_created: timestampText(overlay.createTime),
    time_last_modified: timestampText(overlay.updateTime),
  }
}

function minutesText(seconds: number | undefined): string {
  if (seconds === undefined) return ''
  return [Math.floor(seconds / 60), seconds % 60].map((part) => String(part).padStart(2, '0')).join(':')
}
