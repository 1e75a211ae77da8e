/** Error of a session that may no longer change how its user signs in. */
export const recentSignInCodes = {
  recent_sign_in_required: 'The session of the cookie began more than 5 minutes ago. Sign in again, and repeat the request.',
}
