/** The location of a postcode. */
export interface PostcodePlace {
  /** In the notation of its country. */
  postcode: string
  /** ISO 3166-1 alpha-2. */
  country: string
  /** Degrees. */
  latitude: number
  longitude: number
}

/** Returns the normalised postcode used for lookups: upper case, without spaces, hyphens and dots. */
export function toPostcodeKey(postcode: string): string {
  return postcode.toUpperCase().replaceAll(/[\s.-]/gu, '')
}

/** An area of a country, identified by the first part of its postcodes. */
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

/** Returns the areas of a full postcode. For these countries, GeoNames files contain only the areas. */
export function findAreas(key: string): Area[] {
  return AREAS.flatMap(({ country, full }) => {
    const [, area] = full.exec(key) ?? []
    return area === undefined ? [] : [{ key: area, country }]
  })
}
