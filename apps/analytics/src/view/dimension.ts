/** The dimensions of the client of a view, in the order of a client text. */
export const DIMENSIONS = ['device', 'browser', 'os', 'country', 'referrer'] as const

export type Dimension = (typeof DIMENSIONS)[number]

/** The value of each dimension. An unknown country and a missing referrer are empty. */
export type Client = Readonly<Record<Dimension, string>>

/** The value of clients that are none of the known ones, and of referrers without a row of their own. */
export const OTHER = 'other'

/** Returns the values as one text. No value contains the separator. */
export function formatClient(client: Client): string {
  return DIMENSIONS.map((dimension) => client[dimension]).join('/')
}

export function parseClient(text: string): Client {
  const [device = '', browser = '', os = '', country = '', referrer = ''] = text.split('/')
  return { device, browser, os, country, referrer }
}

/** Returns whether the text of a client has a referrer, which is its last value. */
export function hasReferrer(client: string): boolean {
  return !client.endsWith('/')
}
