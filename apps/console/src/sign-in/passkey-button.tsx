import { Button, type ButtonProps, Stack } from '@mantine/core'
import { IconFingerprint } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { signInByPasskey } from '../api/passkey.ts'
import { storeSession } from '../api/session.tsx'
import { ErrorAlert } from '../layout/error-alert.tsx'

/** Signs in by a passkey. With a password, it must be a passkey of the user of this password. */
export function PasskeyButton({
  password,
  onSignedIn,
  ...button
}: ButtonProps & { password?: { email: string; password: string }; onSignedIn?: () => void }) {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  const signIn = useMutation({
    mutationFn: () => signInByPasskey(password),
    onSuccess(session) {
      storeSession(queryClient, session)
      onSignedIn?.()
    },
  })
  return (
    <Stack gap="xs">
      <ErrorAlert error={signIn.error} />
      <Button
        fullWidth
        leftSection={<IconFingerprint size={20} stroke={1.6} aria-hidden="true" />}
        loading={signIn.isPending}
        {...(password && { 'data-autofocus': true })}
        {...button}
        onClick={() => signIn.mutate()}
      >
        {t(password ? 'passkeys.continue' : 'passkeys.signIn')}
      </Button>
    </Stack>
  )
}
