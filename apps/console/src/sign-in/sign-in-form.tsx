import { Button, PasswordInput, Stack, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { guestClient } from '../api/client.ts'
import { SESSION_KEY } from '../api/session.tsx'
import { ErrorAlert } from '../layout/error-alert.tsx'

/** Form for the email address and password. `fixedEmail` is the only address that it accepts. */
export function SignInForm({ fixedEmail, onSignedIn }: { fixedEmail?: string; onSignedIn?: () => void }) {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  const [email, setEmail] = useState(fixedEmail ?? '')
  const [password, setPassword] = useState('')
  const signIn = useMutation({
    mutationFn: () => guestClient.call('signIn', { payload: { email, password } }),
    // A wrong password is not the end of a session.
    onSuccess(session) {
      queryClient.setQueryData(SESSION_KEY, session)
      onSignedIn?.()
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    signIn.mutate()
  }
  return (
    <form onSubmit={submit}>
      <Stack>
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
        <PasswordInput
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
    </form>
  )
}
