import { formatMinutes } from '@vitascope/captions'
import type { Caption, CaptionLine } from '@vitascope/proto/catalogue/v1/caption'
import { z } from 'zod'
import { formatOptionalTimestamp, schema } from '../../server/schema/response-format.ts'

export const CaptionLineResponse = z
  .object({
    caption_id: schema.id('caption'),
    organisation_id: schema.id('organisation'),
    created_by_user_id: schema.id('user who added the caption'),
    group_id: schema.text('Always empty.', ''),
    title: schema.text('Title that viewers select.', 'English'),
    language: schema.text('Language code.', 'en'),
    media_id: schema.id('media whose videos show the caption'),
    time_created: schema.timestamp('Time of creation.'),
    time_last_modified: schema.timestamp('Time of the last change.'),
    last_modified_by_user_id: schema.id('user who last changed the caption'),
    caption_line_id: schema.id('line'),
    part_of_caption_id: schema.id('caption'),
    time_code_begin: schema.text('Start as `MM:SS`. The minutes may exceed 59.', '00:01'),
    time_code_end: schema.text('End as `MM:SS`. The minutes may exceed 59.', '00:04'),
    caption_text: schema.text('Text as in the file. It may contain line breaks and the tags `b`, `i` and `u`.', 'Good evening'),
  })
  .meta({ id: 'CaptionLine', description: 'One line of a caption, with the properties of the caption.' })

export function captionResponse(caption: Caption, lines: readonly CaptionLine[]): z.input<typeof CaptionLineResponse>[] {
  const properties = {
    caption_id: caption.captionId,
    organisation_id: caption.organisationId,
    created_by_user_id: caption.createdByUserId,
    group_id: '',
    title: caption.title,
    language: caption.language,
    media_id: caption.mediaId,
    time_created: formatOptionalTimestamp(caption.createTime),
    time_last_modified: formatOptionalTimestamp(caption.updateTime),
    last_modified_by_user_id: caption.lastModifiedByUserId,
  }
  return lines.map((line) => ({
    ...properties,
    caption_line_id: line.captionLineId,
    part_of_caption_id: caption.captionId,
    time_code_begin: formatMinutes(line.beginMs),
    time_code_end: formatMinutes(line.endMs),
    caption_text: line.text,
  }))
}
