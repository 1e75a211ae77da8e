import { createMessage, type Message } from './message.ts'

export interface SignInLink {
  purpose: 'invitation' | 'password_reset'
  secret: string
  name: string
  expireTime: Date
}

/** Returns the mail with a link that signs a user in. The secret is in the fragment, which browsers send to no server. */
export function createSignInMessage({ purpose, secret, name, expireTime }: SignInLink, publicUrl: string): Message {
  const host = new URL(publicUrl).host
  const url = `${publicUrl}/console/sign-in#link=${secret}`
  const validity = `The link works once, until ${expireTime.toUTCString()}.`
  if (purpose === 'invitation') {
    return createMessage({
      subject: `Your invitation to ${host}`,
      heading: 'Your invitation',
      name,
      sentence: { before: 'you have an invitation to ', bold: host, after: '. Choose a password with this link' },
      button: 'Choose a password',
      url,
      note: validity,
    })
  }
  return createMessage({
    subject: `New password for ${host}`,
    heading: 'Choose a new password',
    name,
    sentence: { before: 'a new password was requested for your account at ', bold: host, after: '. Choose it with this link' },
    button: 'Choose a new password',
    url,
    note: `${validity} If you did not request it, ignore this message. Your password then stays the same.`,
  })
}
