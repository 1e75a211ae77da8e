import { Button, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { guestClient, isPasskeyRequired } from '../api/client.ts'
import { canUsePasskeys } from '../api/passkey.ts'
import { storeSession } from '../api/session.tsx'
import { ErrorAlert } from '../layout/error-alert.tsx'
import { PasswordField } from '../layout/password-field.tsx'
import { PasskeyButton } from './passkey-button.tsx'

interface Props {
  /** The only address that the form accepts. */
  fixedEmail?: string
  onSignedIn?: () => void
  /** Other ways to sign in, below the form. */
  others: ReactNode
}

/** Form for the email address and password, and for the passkey if the user requires it too. */
export function SignInForm({ fixedEmail, onSignedIn, others }: Props) {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  const [email, setEmail] = useState(fixedEmail ?? '')
  const [password, setPassword] = useState('')
  const signIn = useMutation({
    mutationFn: () => guestClient.call('signIn', { payload: { email, password } }),
    // A wrong password is not the end of a session.
    onSuccess(session) {
      storeSession(queryClient, session)
      onSignedIn?.()
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    signIn.mutate()
  }
  if (isPasskeyRequired(signIn.error)) {
    return (
      <Stack>
        <Text size="sm" role="status">
          {t(canUsePasskeys() ? 'passkeys.secondStep' : 'passkeys.unavailable')}
        </Text>
        {canUsePasskeys() && <PasskeyButton password={{ email, password }} {...(onSignedIn && { onSignedIn })} />}
        <Button variant="subtle" onClick={signIn.reset}>
          {t('signIn.back')}
        </Button>
      </Stack>
    )
  }
  return (
    <Stack>
      <Stack component="form" onSubmit={submit}>
        <ErrorAlert error={signIn.error} />
        <TextInput
          label={t('signIn.email')}
          type="email"
          autoComplete="username"
          required
          withAsterisk={false}
          readOnly={fixedEmail !== undefined}
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
        />
        <PasswordField
          label={t('signIn.password')}
          autoComplete="current-password"
          required
          withAsterisk={false}
          data-autofocus
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
        <Button type="submit" loading={signIn.isPending} fullWidth mt="xs">
          {t('signIn.submit')}
        </Button>
      </Stack>
      {others}
    </Stack>
  )
}
