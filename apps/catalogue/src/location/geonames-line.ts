import { postcodeKey } from './postcode.ts'

/** What an import takes of a line. */
export interface GeonamesPlace {
  country: string
  postcode: string
  key: string
  /** As written, in decimal digits. */
  latitude: string
  longitude: string
  /** 0 (not said) to 9; of places that share a postcode the most accurate counts. */
  accuracy: string
}

const COLUMNS = 12
const DEGREES = /^-?\d{1,3}(\.\d{1,20})?$/

/**
 * A line of a GeoNames postal code file: country, postcode, place, three levels of administration with their codes, latitude, longitude,
 * accuracy, parted by tabs. A text tells what is wrong with it.
 */
export function readGeonamesLine(line: string): GeonamesPlace | string {
  const columns = line.split('\t')
  if (columns.length !== COLUMNS) return `has ${columns.length} columns, not ${COLUMNS}`
  const [country = '', written = '', , , , , , , , latitude = '', longitude = '', accuracy = ''] = columns
  if (!/^[A-Z]{2}$/.test(country)) return 'begins with no country code'
  const postcode = written.trim()
  const key = postcodeKey(postcode)
  if (key === '' || postcode.length > 20 || /[\p{C}\\\ufffd]/u.test(postcode)) return 'has no postcode of 1 to 20 characters'
  if (!isDegrees(latitude, 90)) return 'has no latitude from -90 to 90'
  if (!isDegrees(longitude, 180)) return 'has no longitude from -180 to 180'
  if (!/^\d?$/.test(accuracy)) return 'has an accuracy that is not one digit'
  return { country, postcode, key, latitude, longitude, accuracy: accuracy || '0' }
}

function isDegrees(written: string, most: number): boolean {
  return DEGREES.test(written) && Math.abs(Number(written)) <= most
}
