import { UserType } from '@vitascope/proto/auth/v1/user'
import type { Entry as EntryMessage } from '@vitascope/proto/collaboration/v1/entry'
import type { UserSummary } from '../clients/user-summaries.ts'
import type { Entry, EntryHead } from './entry.ts'

/** Returns the message of an entry. Without its user, the fields of the user are empty. */
export function toMessage(entry: EntryHead & Partial<Pick<Entry, 'clips'>>, user: UserSummary | undefined): EntryMessage {
  return {
    ...entry,
    clips: entry.clips ?? [],
    email: entry.email === '' ? (user?.email ?? '') : entry.email,
    uploaderAccount: user?.userType === UserType.USER_TYPE_UPLOADER,
  }
}
