// Types of the video fields that consist of several values.

/** See `Video.visibility` in the proto file. */
export const VISIBILITIES = ['public', 'unlisted', 'private'] as const

export interface ContentExpiry {
  expireTime: Date | undefined
  message: string
}

export interface Location {
  country: string
  city: string
  postcode: string
  /** Degrees. */
  latitude?: number | undefined
  longitude?: number | undefined
}

export interface Sharing {
  text: string
  embedWithinSocial: boolean
}

export interface AudioLanguage {
  code: string
  title: string
}

export interface Chapter {
  title: string
  startMs: number
}

export interface Hd {
  allow: boolean
  auto: boolean
}
