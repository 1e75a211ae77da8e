import { Button, Modal, Stack, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { guestClient, isSignedOut } from '../api/client.ts'
import { canUsePasskeys } from '../api/passkey.ts'
import { showSession, useSession } from '../api/session.tsx'
import { PasskeyButton } from '../sign-in/passkey-button.tsx'
import { useHasProvider } from '../sign-in/provider-sign-in.ts'
import { SignInForm } from '../sign-in/sign-in-form.tsx'
import { ErrorAlert } from './error-alert.tsx'
import { useReturnFocus } from './use-return-focus.ts'

/** Lets the user sign in again, in front of the page. It can be left only by that. */
export function SessionEndDialog({ onSignedIn }: { onSignedIn: () => void }) {
  const { t } = useTranslation()
  const { user } = useSession()
  const queryClient = useQueryClient()
  const hasProvider = useHasProvider()
  useReturnFocus()
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
        <SignInForm
          fixedEmail={user.email}
          onSignedIn={end}
          others={
            <>
              {canUsePasskeys() && <PasskeyButton variant="default" onSignedIn={end} />}
              {hasProvider && <ProviderTab onSignedIn={end} />}
            </>
          }
        />
        <Button variant="subtle" size="xs" onClick={() => showSession(queryClient, null)}>
          {t('signIn.otherUser')}
        </Button>
      </Stack>
    </Modal>
  )
}

/** How often the session of another tab is looked for. */
const SESSION_INTERVAL_MS = 2_000

/** Opens the identity provider in another tab, so that this page keeps what was typed. Continues with the session of that tab. */
function ProviderTab({ onSignedIn }: { onSignedIn: () => void }) {
  const { t } = useTranslation()
  const { user } = useSession()
  const queryClient = useQueryClient()
  const [isOpened, setOpened] = useState(false)
  const session = useQuery({
    queryKey: ['session of another tab'],
    enabled: isOpened,
    gcTime: 0,
    retry: false,
    refetchInterval: SESSION_INTERVAL_MS,
    queryFn: ({ signal }) => guestClient.call('getOwnSession', { signal }),
  })
  const found = session.data
  useEffect(() => {
    if (!found) return
    // Another user gets a page of its own.
    showSession(queryClient, found)
    if (found.user.user_id === user.user_id) onSignedIn()
  }, [found, user, queryClient, onSignedIn])
  return (
    <Stack gap="xs">
      <ErrorAlert error={isSignedOut(session.error) ? null : session.error} />
      <Button component="a" href="/console/sign-in" target="_blank" variant="default" fullWidth onClick={() => setOpened(true)}>
        {t('signIn.providerTab')}
      </Button>
    </Stack>
  )
}
