/** Properties of the client of a view by which views are counted, in the order of `formatClient`. */
export const DIMENSIONS = ['device', 'browser', 'os', 'country', 'referrer'] as const

export type Dimension = (typeof DIMENSIONS)[number]

/**
 * The value of each dimension: `country` is an ISO 3166-1 code and `referrer` a domain. An unknown
 * country and a missing referrer are empty.
 */
export type Client = Readonly<Record<Dimension, string>>

/** Value of an unrecognised device, browser or operating system, and of a referrer that is not counted separately. */
export const OTHER = 'other'

/** Returns the values as one text, separated by `/`. No value contains a `/`. */
export function formatClient(client: Client): string {
  return DIMENSIONS.map((dimension) => client[dimension]).join('/')
}

/** Returns the values of a text of `formatClient`. Missing values are empty. */
export function parseClient(text: string): Client {
  const [device = '', browser = '', os = '', country = '', referrer = ''] = text.split('/')
  return { device, browser, os, country, referrer }
}

/** Returns whether a text of `formatClient` has a referrer, which is its last value. The text must not be empty. */
export function hasReferrer(client: string): boolean {
  return !client.endsWith('/')
}
