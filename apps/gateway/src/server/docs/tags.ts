/**
 * Tags of the API document, with descriptions, in the order of the document: first what most clients
 * use.
 */
const TAGS: Readonly<Record<string, string>> = {
  Videos: 'Videos: upload by URL, details, changes, lists, search, passwords and signed tokens.',
  'Upload signing': 'File uploads with the tus protocol and with signed forms.',
  Media: 'The files of one source. One or more videos play a media.',
  Captions: 'Caption files of media: import, lines and formats.',
  Playlists: 'Ordered lists of videos, also available as RSS.',
  'Embed codes': 'HTML code that embeds a video, playlist or presentation in a page.',
  Folders: 'Folders of an organisation and the videos in them.',
  Tags: 'Tags of videos, with counts.',
  Metadata: 'Name and value pairs of a video.',
  Jobs: 'Encode jobs: progress, cancellation and retry.',
  Webhooks: 'Subscriptions to events, signed with Standard Webhooks, with a delivery log.',
  Analytics: 'Collection of player events, and reports about views.',
  'Player settings profiles': 'Named sets of player settings, with an optional password.',
  Themes: 'Colours and skins of the player.',
  Overlays: 'Texts and images that the player shows over a video.',
  'Contact forms': 'Forms in the player, and the data that viewers submit.',
  Presentations: 'Slides that appear next to a video.',
  'Playback rules': 'Ordered rules about who may watch, and explanations of their decisions.',
  'Playback keys': 'Public keys with which tokens are verified that you sign yourself.',
  'Playback sessions': 'Devices that load videos whose number of sessions is limited.',
  'IP security': 'Checks of an IP address against the allowed addresses of videos.',
  'Encoding formats': 'Additional renditions of one media, or of later uploads of an organisation.',
  Organisations: 'Organisations with their state, allowed IP addresses and quotas.',
  Users: 'User accounts of organisations.',
  Sessions: 'Sign-in by password, passkey or identity provider for pages of the platform, and the list of sessions.',
  Passkeys: 'Passkeys of users (WebAuthn): registration, names and deletion.',
  'API keys': 'API keys, their ACL resources, and the list of all ACL resources.',
  'Audit log': 'The log of writes that succeeded or whose result is unknown, with time, user and IP address.',
  Collaboration: 'Entries for the review of a video by a user, with clips.',
  Location: 'Postcode lookup, and lists of videos by location.',
  Workers: 'Workers that encode, and the tasks that they run and that wait.',
  Failovers: 'Failovers and restores of the database, after which its last changes may be lost.',
  'Third-party OAuth tokens': 'Storage for OAuth tokens of other services, encrypted at rest.',
  'Work queue': 'A queue of jobs for programs of the operator.',
  'Id generation': 'Unique numbers and unique random texts.',
}

const ORDER = Object.keys(TAGS)

/**
 * Returns the tag objects for the names, in the order of the document. A test requires a description
 * for each tag of the real table.
 */
export function tagObjects(names: Iterable<string>): { name: string; description?: string }[] {
  return [...names]
    .sort((a, b) => tagPosition(a) - tagPosition(b))
    .map((name) => {
      const description = TAGS[name]
      return { name, ...(description !== undefined && { description }) }
    })
}

/** Returns the position of a tag in the document. Unknown tags are last. */
export function tagPosition(name: string): number {
  const position = ORDER.indexOf(name)
  return position === -1 ? ORDER.length : position
}
