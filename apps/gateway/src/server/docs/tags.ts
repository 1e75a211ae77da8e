/** Tags of the API document, with descriptions. */
const TAGS: Readonly<Record<string, string>> = {
  'API keys': 'API keys, their ACL resources, and the list of all ACL resources.',
  'Third-party OAuth tokens': 'Storage for OAuth tokens of other services, encrypted at rest.',
  'Audit log': 'The log of all writes, with time, user, IP address and result.',
  Videos: 'Videos: upload by URL, details, changes, lists, search, passwords and signed tokens.',
  Media: 'The files of one source. One or more videos play a media.',
  Metadata: 'Name and value pairs of a video.',
  Tags: 'Tags of videos, with counts.',
  Folders: 'Folders of an organisation and the videos in them.',
  Users: 'User accounts of organisations.',
  Organisations: 'Organisations with their state, allowed IP addresses and quotas.',
  'Encoding formats': 'Additional renditions of one media, or of later uploads of an organisation.',
  'Id generation': 'Unique numbers and unique random texts.',
  Jobs: 'Encode jobs: progress, cancellation and retry.',
  'Player settings profiles': 'Named sets of player settings, with an optional password.',
  Themes: 'Colours and skins of the player.',
  'Playback keys': 'Public keys with which tokens are verified that you sign yourself.',
  'Playback sessions': 'Devices that load videos whose number of sessions is limited.',
  'Playback rules': 'Ordered rules about who may watch, and explanations of their decisions.',
  'IP security': 'Checks of an IP address against the allowed addresses of videos and playlists.',
  Playlists: 'Ordered lists of videos, also available as RSS.',
  'Embed codes': 'HTML code that embeds a video, playlist or presentation in a page.',
  Captions: 'Caption files of media: import, lines and formats.',
  Overlays: 'Texts and images that the player shows over a video.',
  Location: 'Postcode lookup, and lists of videos by location.',
  Presentations: 'Slides that appear next to a video.',
  'Contact forms': 'Forms in the player, and the data that viewers submit.',
  Webhooks: 'Subscriptions to events, signed with Standard Webhooks, with a delivery log.',
  Collaboration: 'Entries for the review of a video by a user, with clips.',
  'Work queue': 'A queue of jobs for programs of the operator.',
  'Upload signing': 'File uploads with the tus protocol and with signed forms.',
  Analytics: 'Collection of player events, and reports about views.',
}

/**
 * Returns the tag objects for the names. A test requires a description for each tag of the real
 * table.
 */
export function tagObjects(names: Iterable<string>): { name: string; description?: string }[] {
  return [...names].map((name) => {
    const description = TAGS[name]
    return { name, ...(description !== undefined && { description }) }
  })
}
