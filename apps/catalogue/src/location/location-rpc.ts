import { invalid, notFound, requireValid } from '@vitascope/errors'
import type { Handlers } from '@vitascope/grpc'
import { requireUser } from '@vitascope/principal'
import type { ListVideosByPlaceRequest, LocationServiceService } from '@vitascope/proto/catalogue/v1/location'
import { checkText, toTokenPage } from '@vitascope/request'
import type { Organisations } from '../organisation-replica/organisation.ts'
import { requireOrganisation } from '../organisation-replica/requested-organisation.ts'
import type { PlacedVideoStore } from './placed-video-store.ts'
import { findAreas, type PostcodePlace, toPostcodeKey } from './postcode.ts'
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
      const place = await findPlace(postcode, country === '' ? undefined : country.toUpperCase(), signal)
      if (!place) {
        const shownPostcode = checkText('', postcode, { max: 20 }).length === 0 ? postcode : ''
        throw notFound('postcode', country === '' ? shownPostcode : `${shownPostcode} in ${country.toUpperCase()}`)
      }
      return place
    },
    async listVideosByPlace(request, { principal, signal }) {
      const organisationId = await requireOrganisation(organisations, principal, request.organisationId, signal)
      const page = toTokenPage(request, MAX_PAGE_SIZE)
      return videos.page({ organisationId, ...readPlaceFilter(request) }, page, signal)
    },
  }

  async function findPlace(postcode: string, country: string | undefined, signal: AbortSignal): Promise<PostcodePlace | undefined> {
    const key = toPostcodeKey(postcode)
    // No postcode is longer, and PostgreSQL accepts neither NUL nor a lone surrogate.
    if (key === '' || checkText('', key, { max: 20 }).length > 0) return undefined
    const exactPlace = await postcodes.find(key, country, signal)
    if (exactPlace) return exactPlace
    for (const area of findAreas(key).filter((candidate) => country === undefined || country === candidate.country)) {
      const areaPlace = await postcodes.find(area.key, area.country, signal)
      if (areaPlace) return areaPlace
    }
    return undefined
  }
}

function readPlaceFilter({ place }: ListVideosByPlaceRequest): { field: 'country' | 'city'; name: string } {
  if (!place) throw invalid([{ field: 'place', message: 'is required' }])
  const problems = checkText(place.$case, place.value, { min: 1, max: 300 })
  requireValid(problems)
  return { field: place.$case, name: place.value }
}
