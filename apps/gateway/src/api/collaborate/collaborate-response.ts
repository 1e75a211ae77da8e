import type { Clip } from '@vitascope/proto/collaboration/v1/clip'
import type { Entry } from '@vitascope/proto/collaboration/v1/entry'
import { z } from 'zod'
import { formatFlag, formatOptionalTimestamp, schema } from '../../server/schema/response-format.ts'

export const ClipResponse = z
  .object({
    id: schema.id('clip'),
    collaborate_id: schema.id('collaboration entry'),
    title: schema.text('Title of the clip. Free text.', 'Too loud'),
    comments: schema.text('Comments on the clip. Free text.', 'The music covers the voice.'),
    time_start: schema.int('Start in seconds from the beginning of the video.', 3),
    time_finish: schema.int('End in seconds from the beginning of the video.', 7),
    time_start_millis: schema.int('Milliseconds after `time_start`, from 0 to 999.', 480),
    time_finish_millis: schema.int('Milliseconds after `time_finish`, from 0 to 999.', 0),
    type: schema.text('Type of the clip.', 'video'),
    preview: schema.flag('Marks the clip as a preview.'),
    resolved: schema.flag('The comment needs no more work.'),
    order: schema.int('Index of the clip in the entry, from 0.', 0),
    date_created: schema.timestamp('Time of creation.'),
  })
  .meta({ id: 'CollaborationClip', description: 'A clip: a comment on a part of a video.' })

/** A clip with the user and video of its entry. */
export const ClipOfEntryResponse = ClipResponse.extend({
  user_id: schema.text('Id of the user of its entry. Empty if there is none.', '7'),
  video_id: schema.id('video'),
}).meta({ id: 'CollaborationClipOfEntry' })

export const EntryResponse = z
  .object({
    id: schema.id('collaboration entry'),
    video_id: schema.id('video'),
    organisation_id: schema.id('organisation'),
    user_id: schema.text('Id of the user who works on the entry. Empty if there is none.', '7'),
    user_id_created: schema.text('Id of the user who created the entry.', '7'),
    user_id_modified: schema.text('Id of the user who last changed the entry.', '7'),
    email: schema.text('Email address of the entry, or else of its user.', 'ann@example.org'),
    is_uploader_account: schema.bool('True if the user has the type `uploader`.'),
    date_created: schema.timestamp('Time of creation.'),
    date_modified: schema.timestamp('Time of the last change.'),
    guest_link_expires: schema.timestamp('Time at which the guest link of the entry ends. Empty without a link.'),
    clips: z.array(ClipResponse).meta({ description: 'Clips in order.' }),
  })
  .meta({ id: 'CollaborationEntry', description: 'A collaboration entry: the review of a video by one user, with its clips.' })

/** Fields in the response to the creation of an entry. */
export const NewEntryResponse = EntryResponse.pick({ date_created: true, user_id: true, user_id_created: true, video_id: true }).meta({
  id: 'CollaborationEntryData',
})

export function entryResponse(entry: Entry): z.input<typeof EntryResponse> {
  return {
    id: entry.collaborationId,
    ...newEntryResponse(entry),
    organisation_id: entry.organisationId,
    user_id_modified: entry.lastModifiedByUserId,
    email: entry.email,
    is_uploader_account: entry.uploaderAccount,
    date_modified: formatOptionalTimestamp(entry.updateTime),
    guest_link_expires: formatOptionalTimestamp(entry.guestLinkExpireTime),
    clips: entry.clips.map(clipResponse),
  }
}

export function newEntryResponse(entry: Entry): z.input<typeof NewEntryResponse> {
  return {
    date_created: formatOptionalTimestamp(entry.createTime),
    user_id: entry.userId,
    user_id_created: entry.createdByUserId,
    video_id: entry.videoId,
  }
}

export function clipResponse(clip: Clip): z.input<typeof ClipResponse> {
  return {
    id: clip.clipId,
    collaborate_id: clip.collaborationId,
    title: clip.title,
    comments: clip.comments,
    time_start: clip.timeStart,
    time_finish: clip.timeFinish,
    time_start_millis: clip.timeStartMillis,
    time_finish_millis: clip.timeFinishMillis,
    type: clip.type,
    preview: formatFlag(clip.preview),
    resolved: formatFlag(clip.resolved),
    order: clip.position,
    date_created: formatOptionalTimestamp(clip.createTime),
  }
}
