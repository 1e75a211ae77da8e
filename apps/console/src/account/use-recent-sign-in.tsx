import { type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { isRecentSignInRequired } from '../api/client.ts'
import { lazyPart } from '../layout/lazy-part.tsx'

/** The dialog is loaded when it is opened. */
const RecentSignInDialog = lazyPart(() => import('./recent-sign-in-dialog.tsx').then((part) => part.RecentSignInDialog))

interface RecentSignIn {
  /** Runs an action. If it requires a recent sign-in, runs it again after one. Rejects if the user does not sign in. */
  run: <T>(action: () => Promise<T>) => Promise<T>
  /** The dialog in which the user signs in. It is part of the page. */
  dialog: ReactNode
}

/** Lets the user sign in again for actions that the platform accepts only for some minutes after a sign-in. */
export function useRecentSignIn(): RecentSignIn {
  const { t } = useTranslation()
  const [pending, setPending] = useState<{ confirm: () => void; cancel: (error: Error) => void }>()
  const signInAgain = () => new Promise<void>((confirm, cancel) => setPending({ confirm, cancel })).finally(() => setPending(undefined))
  return {
    async run(action) {
      try {
        return await action()
      } catch (error) {
        if (!isRecentSignInRequired(error)) throw error
        await signInAgain()
        return action()
      }
    },
    dialog: pending && (
      <RecentSignInDialog onSignedIn={pending.confirm} close={(message = t('signIn.notConfirmed')) => pending.cancel(new Error(message))} />
    ),
  }
}
