import { minuteText } from '@vitascope/captions'
import type { Caption, CaptionLine } from '@vitascope/proto/catalogue/v1/caption'
import { z } from 'zod'
import { shown, timestampText } from '../public-form.ts'

export const CaptionLineRecord = z
  .object({
    caption_id: shown.id('caption'),
    organisation_id: shown.id('organisation'),
    created_by_user_id: shown.id('user who added it'),
    group_id: shown.text('Always empty.'),
    title: shown.text('What viewers choose by.', 'English'),
    language: shown.text('Language code.', 'en'),
    media_id: shown.id('media whose videos show it'),
    time_created: shown.timestamp('When it was added.'),
    time_last_modified: shown.timestamp('When it was last changed.'),
    last_modified_by_user_id: shown.id('user who changed it last'),
    caption_line_id: shown.id('line'),
    part_of_caption_id: shown.id('caption'),
    time_code_begin: shown.text('`MM:SS`; the minutes may pass 59.', '00:01'),
    time_code_end: shown.text('`MM:SS`; the minutes may pass 59.', '00:04'),
    caption_text: shown.text('As in the file: it may have line ends, and the tags `b`, `i` and `u`.', 'Good evening'),
  })
  .meta({ id: 'CaptionLine', description: 'One line of a caption, with what it says of the caption.' })

export function captionView(caption: Caption, lines: readonly CaptionLine[]): z.input<typeof CaptionLineRecord>[] {
  const own = {
    caption_id: caption.captionId,
    organisation_id: caption.organisationId,
    created_by_user_id: caption.createdByUserId,
    group_id: '',
    title: caption.title,
    language: caption.language,
    media_id: caption.mediaId,
    time_created: timestampText(caption.createTime),
    time_last_modified: timestampText(caption.updateTime),
    last_modified_by_user_id: caption.lastModifiedByUserId,
  }
  return lines.map((line) => ({
    ...own,
    caption_line_id: line.captionLineId,
    part_of_caption_id: caption.captionId,
    time_code_begin: minuteText(line.beginMs),
    time_code_end: minuteText(line.endMs),
    caption_text: line.text,
  }))
}
