import { invalid, notFound, requireValid } from '@vitascope/errors'
import type { Handlers } from '@vitascope/grpc'
import { requireUser } from '@vitascope/principal'
import type { ListVideosByPlaceRequest, LocationServiceService } from '@vitascope/proto/catalogue/v1/location'
import { checkText, pageSizeOf } from '@vitascope/request'
import type { Organisations } from '../organisation-replica/organisation.ts'
import { requireOrganisation } from '../organisation-replica/requested-organisation.ts'
import type { PlacedVideoStore } from './placed-video-store.ts'
import { areasOf, type Place, postcodeKey } from './postcode.ts'
import type { PostcodeStore } from './postcode-store.ts'

export interface LocationParts {
  postcodes: PostcodeStore
  videos: PlacedVideoStore
  organisations: Organisations
}

const MAX_PAGE_SIZE = 500

export function locationHandlers({ postcodes, videos, organisations }: LocationParts): Handlers<typeof LocationServiceService> {
  return {
    async lookUpPostcode({ postcode, country }, { principal, signal }) {
      requireUser(principal)
      if (!/^([A-Za-z]{2})?$/.test(country))
        throw invalid([{ field: 'country', message: 'must be a country code of two letters, such as NL' }])
      const found = await find(postcode, country === '' ? undefined : country.toUpperCase(), signal)
      if (!found) {
        const written = checkText('', postcode, { max: 20 }).length === 0 ? postcode : ''
        throw notFound('postcode', country === '' ? written : `${written} in ${country.toUpperCase()}`)
      }
      return found
    },
    async listVideosByPlace(request, { principal, signal }) {
      const organisationId = await requireOrganisation(organisations, principal, request.organisationId, signal)
      const size = pageSizeOf(request, MAX_PAGE_SIZE)
      return videos.page({ organisationId, ...partOf(request) }, { size, token: request.pageToken, skip: request.skip }, signal)
    },
  }

  async function find(written: string, country: string | undefined, signal: AbortSignal): Promise<Place | undefined> {
    const key = postcodeKey(written)
    // No postcode is longer, and PostgreSQL accepts neither NUL nor a lone surrogate.
    if (key === '' || checkText('', key, { max: 20 }).length > 0) return undefined
    const exact = await postcodes.find(key, country, signal)
    if (exact) return exact
    for (const area of areasOf(key).filter((one) => country === undefined || country === one.country)) {
      const found = await postcodes.find(area.key, area.country, signal)
      if (found) return found
    }
    return undefined
  }
}

function partOf({ place }: ListVideosByPlaceRequest): { part: 'country' | 'city'; name: string } {
  if (!place) throw invalid([{ field: 'place', message: 'is required' }])
  const problems = checkText(place.$case, place.value, { min: 1, max: 300 })
  requireValid(problems)
  return { part: place.$case, name: place.value }
}
