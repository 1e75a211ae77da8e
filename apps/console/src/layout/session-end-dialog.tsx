import { Button, Modal, Stack, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { SESSION_KEY, useSession } from '../api/session.tsx'
import { SignInForm } from '../sign-in/sign-in-form.tsx'

/** Lets the user sign in again, in front of the page. It can be left only by that. */
export function SessionEndDialog({ onSignedIn }: { onSignedIn: () => void }) {
  const { t } = useTranslation()
  const { user } = useSession()
  const queryClient = useQueryClient()
  const end = () => {
    onSignedIn()
    void queryClient.invalidateQueries()
  }
  return (
    <Modal
      opened
      onClose={() => {}}
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
      title={t('signIn.again')}
      centered
    >
      <Stack>
        <Text size="sm">{t('signIn.expired')}</Text>
        <SignInForm fixedEmail={user.email} onSignedIn={end} />
        <Button variant="subtle" size="xs" onClick={() => queryClient.setQueryData(SESSION_KEY, null)}>
          {t('signIn.otherUser')}
        </Button>
      </Stack>
    </Modal>
  )
}
