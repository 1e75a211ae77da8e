import type { Clip } from '@vitascope/proto/collaboration/v1/clip'
import type { Entry } from '@vitascope/proto/collaboration/v1/entry'
import { z } from 'zod'
import { flagText, shown, timestampText } from '../public-form.ts'

export const ClipRecord = z
  .object({
    id: shown.id('clip'),
    collaborate_id: shown.id('collaboration entry'),
    title: shown.text('Free text.', 'Too loud'),
    comments: shown.text('Free text.', 'The music covers the voice.'),
    time_start: shown.int('Seconds from the beginning.', 3),
    time_finish: shown.int('Seconds from the beginning.', 7),
    type: shown.text('What kind of clip it is.', 'video'),
    preview: shown.flag('Whether it is a preview.'),
    order: shown.int('Its place in the entry, from 0.', 0),
    date_created: shown.timestamp('When it was made.'),
  })
  .meta({ id: 'CollaborationClip', description: 'A remark about a part of a video.' })

/** With what its entry says. */
export const ClipOfEntry = ClipRecord.extend({
  user_id: shown.text('The user of its entry, or empty.', '7'),
  video_id: shown.id('video'),
}).meta({ id: 'CollaborationClipOfEntry' })

export const EntryRecord = z
  .object({
    id: shown.id('collaboration entry'),
    video_id: shown.id('video'),
    organisation_id: shown.id('organisation'),
    user_id: shown.text('Whose work it is, or empty.', '7'),
    user_id_created: shown.text('Who made it.', '7'),
    user_id_modified: shown.text('Who changed it last.', '7'),
    email: shown.text('The address given to the entry, else that of its user.', 'ann@example.org'),
    is_uploader_account: shown.bool('Whether its user is of the type `uploader`.'),
    date_created: shown.timestamp('When it was made.'),
    date_modified: shown.timestamp('When it was last changed.'),
    clips: z.array(ClipRecord).meta({ description: 'In their order.' }),
  })
  .meta({ id: 'CollaborationEntry', description: 'Somebody’s work on a video, with the clips made of it.' })

/** What the creation of an entry shows. */
export const NewEntryData = EntryRecord.pick({ date_created: true, user_id: true, user_id_created: true, video_id: true }).meta({
  id: 'CollaborationEntryData',
})

export function entryView(entry: Entry): z.input<typeof EntryRecord> {
  return {
    id: entry.collaborationId,
    ...newEntryView(entry),
    organisation_id: entry.organisationId,
    user_id_modified: entry.lastModifiedByUserId,
    email: entry.email,
    is_uploader_account: entry.uploaderAccount,
    date_modified: timestampText(entry.updateTime),
    clips: entry.clips.map(clipView),
  }
}

export function newEntryView(entry: Entry): z.input<typeof NewEntryData> {
  return {
    date_created: timestampText(entry.createTime),
    user_id: entry.userId,
    user_id_created: entry.createdByUserId,
    video_id: entry.videoId,
  }
}

export function clipView(clip: Clip): z.input<typeof ClipRecord> {
  return {
    id: clip.clipId,
    collaborate_id: clip.collaborationId,
    title: clip.title,
    comments: clip.comments,
    time_start: clip.timeStart,
    time_finish: clip.timeFinish,
    type: clip.type,
    preview: flagText(clip.preview),
    order: clip.position,
    date_created: timestampText(clip.createTime),
  }
}
