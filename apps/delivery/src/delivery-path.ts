/** The parts of `/delivery/{video_id}/{version}[~{token}]/{file}` and `/delivery/presentation/{id}/…`. */
export interface DeliveryPath {
  kind: 'video' | 'presentation'
  /** Id of the video or of the presentation. */
  id: string
  version: string
  token: string | undefined
  file: string
}

const PATH =
  /^\/delivery\/(presentation\/)?([0-9]{1,19})\/([a-z0-9]{1,64})(?:~([A-Za-z0-9_.-]{1,2048}))?\/([A-Za-z0-9][A-Za-z0-9._-]*(?:\/[A-Za-z0-9][A-Za-z0-9._-]*)*)$/

/**
 * Returns the parts of a path, or undefined if it is invalid. Percent-encoded, empty and dotted
 * segments are invalid.
 */
export function parseDeliveryPath(path: string): DeliveryPath | undefined {
  const [, presentation, id, version, token, file] = PATH.exec(path) ?? []
  return id && version && file ? { kind: presentation ? 'presentation' : 'video', id, version, token, file } : undefined
}

/**
 * Returns the path of the same file with a token. A `?token=` is redirected to it, so that relative
 * URLs in playlists contain the token.
 */
export function withToken({ kind, id, version, file }: DeliveryPath, token: string): string {
  return `/delivery/${kind === 'presentation' ? 'presentation/' : ''}${id}/${version}~${token}/${file}`
}
