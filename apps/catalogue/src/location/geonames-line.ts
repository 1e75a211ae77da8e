import { toPostcodeKey } from './postcode.ts'

/** The fields of a line that are imported. */
export interface GeonamesRow {
  country: string
  postcode: string
  key: string
  /** Decimal digits, as in the file. */
  latitude: string
  longitude: string
  /** 0 (unknown) to 9. Of several places with the same postcode, the most accurate is used. */
  accuracy: string
}

const COLUMNS = 12
const DEGREES = /^-?\d{1,3}(\.\d{1,20})?$/

/**
 * Parses a line of a GeoNames postal code file: country, postcode, place, three administrative
 * levels with their codes, latitude, longitude and accuracy, separated by tabs. Returns a string
 * that describes the problem if the line is malformed.
 */
export function readGeonamesLine(line: string): GeonamesRow | string {
  const columns = line.split('\t')
  if (columns.length !== COLUMNS) return `has ${columns.length} columns, not ${COLUMNS}`
  const [country = '', postcodeText = '', , , , , , , , latitude = '', longitude = '', accuracy = ''] = columns
  if (!/^[A-Z]{2}$/.test(country)) return 'does not start with a country code'
  const postcode = postcodeText.trim()
  const key = toPostcodeKey(postcode)
  if (key === '' || postcode.length > 20 || /[\p{C}\\\ufffd]/u.test(postcode)) return 'has no postcode of 1 to 20 characters'
  if (!isDegrees(latitude, 90)) return 'has no latitude from -90 to 90'
  if (!isDegrees(longitude, 180)) return 'has no longitude from -180 to 180'
  if (!/^\d?$/.test(accuracy)) return 'has an accuracy that is not one digit'
  return { country, postcode, key, latitude, longitude, accuracy: accuracy || '0' }
}

function isDegrees(text: string, max: number): boolean {
  return DEGREES.test(text) && Math.abs(Number(text)) <= max
}
