/** Where a postcode is. */
export interface Place {
  /** As its country writes it. */
  postcode: string
  /** ISO 3166-1 alpha-2. */
  country: string
  /** Degrees. */
  latitude: number
  longitude: number
}

/** What postcodes are compared by: people write them in either case, and with or without spaces, hyphens and points. */
export function postcodeKey(written: string): string {
  return written.toUpperCase().replaceAll(/[\s.-]/gu, '')
}

/** An area of a country, by the first part of its postcodes. */
export interface Area {
  key: string
  country: string
}

const AREAS: readonly { country: string; full: RegExp }[] = [
  { country: 'CA', full: /^([A-Z]\d[A-Z])\d[A-Z]\d$/ },
  { country: 'GB', full: /^([A-Z]{1,2}\d[A-Z\d]?)\d[A-Z]{2}$/ },
  { country: 'NL', full: /^(\d{4})[A-Z]{2}$/ },
  { country: 'US', full: /^(\d{5})\d{4}$/ },
]

/** The areas that a full postcode may lie in: common data of these countries goes no deeper. */
export function areasOf(key: string): Area[] {
  return AREAS.flatMap(({ country, full }) => {
    const [, area] = full.exec(key) ?? []
    return area === undefined ? [] : [{ key: area, country }]
  })
}
