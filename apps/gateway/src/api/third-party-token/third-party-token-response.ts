import type { ThirdPartyToken } from '@vitascope/proto/auth/v1/third_party_token'
import { z } from 'zod'
import { formatOptionalTimestamp, schema } from '../../server/schema/response-format.ts'

export const ThirdPartyTokenResponse = z
  .object({
    id: schema.id('record'),
    organisation_id: schema.id('organisation'),
    service_name: schema.text('Name of the provider.', 'photoshare'),
    called_by: schema.text('Identifier that the calling service chooses.', 'newsroom'),
    username: schema.text('User name at the provider.', 'ada'),
    token: schema.text('The token. It is a secret.', 'a token of the service'),
    auth_url: schema.text('URL at which the provider authenticates.', 'https://photoshare.example/oauth'),
    other_data: z.record(z.string(), z.unknown()).meta({ description: 'Any JSON object. It is a secret. `{}` if there is none.' }),
    date_created: schema.timestamp('Time of creation.'),
    date_expiry: schema.timestamp('Time at which the token expires at the provider. Empty if it is unknown.'),
    date_last_modified: schema.timestamp('Time of the last change.'),
    user_id: schema.text('Id of the user. Empty if there is none.', '7'),
    deleted: z.literal('0').meta({ description: 'Deleted tokens are never returned.' }),
  })
  .meta({ id: 'ThirdPartyToken', description: 'A token for a third-party provider.' })

export function thirdPartyTokenResponse(record: ThirdPartyToken): z.input<typeof ThirdPartyTokenResponse> {
  return {
    id: record.thirdPartyTokenId,
    organisation_id: record.organisationId,
    service_name: record.serviceName,
    called_by: record.calledBy,
    username: record.username,
    token: record.token,
    auth_url: record.authUrl,
    // The text was validated as an object before it was stored.
    other_data: record.otherDataJson === '' ? {} : (JSON.parse(record.otherDataJson) as Record<string, unknown>),
    date_created: formatOptionalTimestamp(record.createTime),
    date_expiry: formatOptionalTimestamp(record.expireTime),
    date_last_modified: formatOptionalTimestamp(record.updateTime),
    user_id: record.userId,
    deleted: '0',
  }
}
