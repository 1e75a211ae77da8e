import type { Reader } from '@vitascope/config'
import { isId } from '@vitascope/request'
import type { OidcSettings } from './oidc-provider.ts'

/** Reads the settings of the identity provider. Returns undefined if no issuer is set. Reports problems to `read`. */
export function readOidcSettings(read: Reader): OidcSettings | undefined {
  const issuer = read.url('VITASCOPE_OIDC_ISSUER', {
    protocols: ['https:', 'http:'],
    description: 'Issuer of an identity provider with OpenID Connect. `http://` is accepted for loopback addresses only.',
  })
  const clientId = read.optional('VITASCOPE_OIDC_CLIENT_ID', { description: 'Id of the platform at the provider.' })
  const clientSecret = read.secret('VITASCOPE_OIDC_CLIENT_SECRET', { description: 'Secret of the platform at the provider.' })
  const groupsClaim = read.text('VITASCOPE_OIDC_GROUPS_CLAIM', {
    fallback: 'groups',
    description: 'Claim with the groups of a user.',
  })
  const userTypes = readUserTypes(read)
  const organisationId = read.optional('VITASCOPE_OIDC_ORGANISATION', {
    description: 'Id of the organisation in which the first sign-in creates an unknown user. Without it, unknown users are rejected.',
  })
  if (organisationId !== undefined && !isId(organisationId)) read.addProblem('VITASCOPE_OIDC_ORGANISATION must be an id')
  if (issuer === undefined) return undefined
  if (clientId === undefined) read.addProblem('VITASCOPE_OIDC_ISSUER requires VITASCOPE_OIDC_CLIENT_ID')
  const { protocol, hostname } = new URL(issuer)
  if (protocol !== 'https:' && !['localhost', '127.0.0.1', '[::1]'].includes(hostname))
    read.addProblem('VITASCOPE_OIDC_ISSUER must begin with https://, or have a loopback address')
  return { issuer, clientId: clientId ?? '', clientSecret, groupsClaim, userTypes, organisationId }
}

/** Returns the user type of each group. It is empty if the setting is not set. */
function readUserTypes(read: Reader): Map<string, 'uploader' | 'standard'> {
  const name = 'VITASCOPE_OIDC_USER_TYPES'
  const pairs = read.list(name, {
    description:
      'User types of groups, such as `video-admins=standard,editors=uploader`, for users that a sign-in creates. Users without such a group are rejected. Without the setting, all are uploaders.',
  })
  const types = new Map<string, 'uploader' | 'standard'>()
  for (const pair of pairs) {
    const at = pair.lastIndexOf('=')
    const [group, type] = [pair.slice(0, at), pair.slice(at + 1)]
    if (at > 0 && (type === 'uploader' || type === 'standard')) types.set(group, type)
    else read.addProblem(`${name} must be a list of GROUP=uploader and GROUP=standard`)
  }
  return types
}
