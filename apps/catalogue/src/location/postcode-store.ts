import type { Db } from '@vitascope/postgres'
import type { PostcodePlace } from './postcode.ts'

export interface PostcodeStore {
  /**
   * Returns the place of a postcode in `country` (ISO 3166-1 alpha-2). `key` is the result of
   * `toPostcodeKey`. If `country` is undefined, returns the place in the first country, by country code,
   * that has the postcode. Returns undefined if the postcode is unknown.
   */
  find(key: string, country: string | undefined, signal?: AbortSignal): Promise<PostcodePlace | undefined>
}

export function createPostcodeStore(db: Db): PostcodeStore {
  return {
    async find(key, country, signal) {
      signal?.throwIfAborted()
      const [place] = await db.query<PostcodePlace>(
        `select postcode, country, latitude, longitude from postcode
         where postcode_key = $1 and ($2::text is null or country = $2) order by country limit 1`,
        [key, country],
      )
      return place
    },
  }
}
