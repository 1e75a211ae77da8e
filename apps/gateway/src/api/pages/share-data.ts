/** Public data of a player page for other sites. */
export interface ShareData {
  id: string
  title: string
  description: string
  /** Language code, empty if unknown. */
  language: string
  /** Public stills, the largest first. Empty for a protected video. */
  images: readonly ShareImage[]
  width: number
  height: number
  /** True if search engines must not list the page. */
  isUnlisted: boolean
  /** True if social sites may play the video inline. */
  canPlayInline: boolean
  /** True if only viewers with a token or a password can play the video. */
  requiresCredential: boolean
  /** Data for search engines. Undefined if the video is not public for everyone, and for playlists. */
  search: SearchData | undefined
}

/** A still, with its size in pixels. */
export interface ShareImage {
  url: string
  width: number
  height: number
}

/** Data of a public video for search engines. */
export interface SearchData {
  uploadTime: Date
  /** 0 if unknown. */
  durationSeconds: number
  contentUrl: string
  /** In the order of their starts. */
  chapters: readonly { title: string; startMs: number }[]
}

/** Facts embedded in a player page, so that it does not request what does not exist. */
export type PageFacts = { shows: 'video' | 'playlist'; shared: ShareData } | { shows: 'none'; expired?: string; denied?: string }
