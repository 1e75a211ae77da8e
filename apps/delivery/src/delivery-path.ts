/** The parts of `/delivery/{video_id}/{version}[~{token}]/{file}`, and of the same behind `/delivery/presentation/`. */
export interface DeliveryPath {
  kind: 'video' | 'presentation'
  /** Of the video, or of the presentation. */
  id: string
  version: string
  token: string | undefined
  file: string
}

const PATH =
  /^\/delivery\/(presentation\/)?([0-9]{1,19})\/([a-z0-9]{1,64})(?:~([A-Za-z0-9_.-]{1,1024}))?\/([A-Za-z0-9][A-Za-z0-9._-]*(?:\/[A-Za-z0-9][A-Za-z0-9._-]*)*)$/

/** Undefined for anything else: percent-encoded, empty and dotted segments are no files of ours. */
export function parseDeliveryPath(path: string): DeliveryPath | undefined {
  const [, presentation, id, version, token, file] = PATH.exec(path) ?? []
  return id && version && file ? { kind: presentation ? 'presentation' : 'video', id, version, token, file } : undefined
}

/** The same file under a token: what a `?token=` is turned into, so that the relative addresses in a playlist carry it on. */
export function withToken({ kind, id, version, file }: DeliveryPath, token: string): string {
  return `/delivery/${kind === 'presentation' ? 'presentation/' : ''}${id}/${version}~${token}/${file}`
}
