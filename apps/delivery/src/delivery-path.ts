/** The parts of `/delivery/{video_id}/{version}[~{token}]/{file}`. */
export interface DeliveryPath {
  videoId: string
  version: string
  token: string | undefined
  file: string
}

const PATH =
  /^\/delivery\/([0-9]{1,19})\/([a-z0-9]{1,64})(?:~([A-Za-z0-9_.-]{1,1024}))?\/([A-Za-z0-9][A-Za-z0-9._-]*(?:\/[A-Za-z0-9][A-Za-z0-9._-]*)*)$/

/** Undefined for anything else: percent-encoded, empty and dotted segments are no files of ours. */
export function parseDeliveryPath(path: string): DeliveryPath | undefined {
  const [, videoId, version, token, file] = PATH.exec(path) ?? []
  return videoId && version && file ? { videoId, version, token, file } : undefined
}

/** The same file under a token: what a `?token=` is turned into, so that the relative addresses in a playlist carry it on. */
export function withToken({ videoId, version, file }: DeliveryPath, token: string): string {
  return `/delivery/${videoId}/${version}~${token}/${file}`
}
