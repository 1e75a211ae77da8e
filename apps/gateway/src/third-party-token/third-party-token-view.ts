import type { ThirdPartyToken } from '@vitascope/proto/auth/v1/third_party_token'
import { z } from 'zod'
import { shown, timestampText } from '../public-form.ts'

export const ThirdPartyTokenRecord = z
  .object({
    id: shown.id('record'),
    organisation_id: shown.id('organisation'),
    service_name: shown.text('The provider.', 'photoshare'),
    called_by: shown.text('An identifier of the service’s own.'),
    username: shown.text('At the provider.', 'ada'),
    token: shown.text('A secret.'),
    auth_url: shown.text('Where the provider authenticates.', 'https://photoshare.example/oauth'),
    other_data: z.record(z.string(), z.unknown()).meta({ description: 'A secret: any JSON object; `{}` for none.' }),
    date_created: shown.timestamp('When it was stored.'),
    date_expiry: shown.timestamp('When the token expires at the provider; empty if unknown.'),
    date_last_modified: shown.timestamp('When it was last changed.'),
    user_id: shown.text('Id of the user; empty for none.', '7'),
    deleted: z.literal('0').meta({ description: 'Deleted records are never answered.' }),
  })
  .meta({ id: 'ThirdPartyToken', description: 'A token for a third-party provider.' })

export function thirdPartyTokenView(record: ThirdPartyToken): z.input<typeof ThirdPartyTokenRecord> {
  return {
    id: record.thirdPartyTokenId,
    organisation_id: record.organisationId,
    service_name: record.serviceName,
    called_by: record.calledBy,
    username: record.username,
    token: record.token,
    auth_url: record.authUrl,
    // What is stored was checked to be an object.
    other_data: record.otherDataJson === '' ? {} : (JSON.parse(record.otherDataJson) as Record<string, unknown>),
    date_created: timestampText(record.createTime),
    date_expiry: timestampText(record.expireTime),
    date_last_modified: timestampText(record.updateTime),
    user_id: record.userId,
    deleted: '0',
  }
}
