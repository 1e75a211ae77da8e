import { Button, Modal, Stack, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import type { Result } from '@vitascope/sdk'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { canUsePasskeys } from '../api/passkey.ts'
import { SESSION_KEY, useSession } from '../api/session.tsx'
import { notifyError } from '../layout/notify.ts'
import { useReturnFocus } from '../layout/use-return-focus.ts'
import { PasskeyButton } from '../sign-in/passkey-button.tsx'
import { SignInForm } from '../sign-in/sign-in-form.tsx'

interface Props {
  onSignedIn: () => void
  /** Ends the dialog without a sign-in of the user. The default message is about that. */
  close: (message?: string) => void
}

/** Lets the user sign in again before a change of its sign-in. The new session replaces the present one. */
export function RecentSignInDialog({ onSignedIn, close }: Props) {
  const { t } = useTranslation()
  const { api, user } = useSession()
  const queryClient = useQueryClient()
  useReturnFocus()
  const readSession = () => queryClient.getQueryData<Result<'getOwnSession'> | null>(SESSION_KEY)
  const [old] = useState(readSession)
  const continueWithSession = async () => {
    // Any passkey can be selected, so it can be that of another user.
    if (readSession()?.user.user_id !== user.user_id) {
      close(t('signIn.otherUserConfirmed'))
      return
    }
    if (old) await api.call('endOwnSession', { path: { user_session_id: old.id } }).catch(notifyError)
    void queryClient.invalidateQueries({ queryKey: ['sessions'] })
    onSignedIn()
  }
  const end = () => void continueWithSession()
  return (
    <Modal
      opened
      onClose={() => close()}
      title={t('signIn.confirm')}
      centered
      closeOnClickOutside={false}
      closeButtonProps={{ 'aria-label': t('common.close') }}
    >
      <Stack>
        <Text size="sm">{t('signIn.confirmText')}</Text>
        <SignInForm
          fixedEmail={user.email}
          onSignedIn={end}
          others={canUsePasskeys() && <PasskeyButton variant="default" onSignedIn={end} />}
        />
        <Text size="xs" c="dimmed">
          {t('signIn.confirmProvider')}
        </Text>
        <Button variant="subtle" size="xs" onClick={() => close()}>
          {t('common.cancel')}
        </Button>
      </Stack>
    </Modal>
  )
}
