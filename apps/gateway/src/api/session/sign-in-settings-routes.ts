import type { SignInSettings } from '@vitascope/proto/auth/v1/passkey'
import { parseAddress } from '@vitascope/security'
import { z } from 'zod'
import { route } from '../../server/route/route.ts'
import { flag } from '../../server/schema/fields.ts'
import { required, schema } from '../../server/schema/response-format.ts'
import { pageOrigin } from '../passkey/passkey-fields.ts'
import { recentSignInCodes } from '../passkey/recent-sign-in.ts'

const section = 'Sessions'

const SignInSettingsResponse = z.object({
  passkey_required: schema.bool('Whether the password alone does not sign the user in: a passkey is required too.'),
  passkey_origin: schema.text(
    'Origin of the pages on which passkeys work. Empty if the host of the public URL is an IP address.',
    'https://video.example.org',
  ),
})

export const getSignInSettings = route({
  get: ['/session/settings'],
  operationId: 'getSignInSettings',
  section,
  access: 'user',
  summary: 'Read how you sign in',
  response: SignInSettingsResponse,
  async handle(_, { services, call, publicUrl }) {
    const { settings } = await services.passkeys.getSignInSettings({}, call)
    return settingsResponse(required(settings, 'settings'), publicUrl)
  },
})

export const updateSignInSettings = route({
  patch: ['/session/settings'],
  operationId: 'updateSignInSettings',
  section,
  access: 'user',
  summary: 'Change how you sign in',
  description:
    'With `passkey_required`, `POST /session` and `POST /session/link` do not create a session. The sign-in continues with `POST /session/passkey`. A ' +
    'passkey alone still signs in, because the authenticator verifies the user. Sign-ins at an identity provider are not affected. A session that switches ' +
    'it off must be at most 5 minutes old.',
  payload: z.strictObject({
    passkey_required: flag({
      description: 'Whether the password alone does not sign the user in: a passkey is required too.',
      example: true,
    }),
  }),
  record: SignInSettingsResponse,
  response: SignInSettingsResponse,
  errorCodes: {
    no_passkey: 'A user without a passkey cannot require one.',
    ...recentSignInCodes,
  },
  async handle({ payload }, { services, call, publicUrl }) {
    const { settings } = await services.passkeys.updateSignInSettings({ settings: { passkeyRequired: payload.passkey_required } }, call)
    return settingsResponse(required(settings, 'settings'), publicUrl)
  },
})

export const signInSettingsRoutes = [getSignInSettings, updateSignInSettings]

function settingsResponse({ passkeyRequired }: SignInSettings, publicUrl: string): z.input<typeof SignInSettingsResponse> {
  const isAddress = parseAddress(new URL(publicUrl).hostname.replace(/^\[|\]$/g, '')) !== undefined
  return { passkey_required: passkeyRequired, passkey_origin: isAddress ? '' : pageOrigin(publicUrl) }
}
