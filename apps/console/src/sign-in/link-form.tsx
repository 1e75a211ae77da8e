import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { fieldMessage, guestClient, isPasskeyRequired } from '../api/client.ts'
import { storeSession } from '../api/session.tsx'
import { ErrorAlert } from '../layout/error-alert.tsx'
import { bindTexts } from '../layout/form-values.ts'
import { PasswordField } from '../layout/password-field.tsx'
import type { SignInLink } from './sign-in-address.ts'

/** Form of a link: the user chooses a password. The first user of a platform also enters an address and a name. */
export function LinkForm({ link }: { link: SignInLink }) {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const [password, setPassword] = useState('')
  const [first, setFirst] = useState({ email: '', first_name: '', last_name: '' })
  const use = useMutation({
    mutationFn: () => guestClient.call('useSignInLink', { payload: { link: link.secret, password, ...(link.isFirstUser && first) } }),
    async onSuccess(session) {
      removeSecret()
      storeSession(queryClient, session)
      await navigate({ to: '/videos', replace: true })
    },
    onError: (error) => isPasskeyRequired(error) && removeSecret(),
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    use.mutate()
  }
  const bind = bindTexts(first, setFirst, use.error)
  const text = (name: keyof typeof first) => ({ ...bind(name), required: true, withAsterisk: false })
  if (isPasskeyRequired(use.error)) {
    return (
      <Stack>
        <Text role="status">{t('passkeys.passwordSet')}</Text>
        <Button component="a" href={location.pathname}>
          {t('passkeys.toSignIn')}
        </Button>
      </Stack>
    )
  }
  return (
    <form onSubmit={submit}>
      <Stack>
        <Text size="sm">{t(link.isFirstUser ? 'signIn.firstUser' : 'signIn.choosePassword')}</Text>
        <ErrorAlert error={use.error} fields={['password', ...(link.isFirstUser ? Object.keys(first) : [])]} />
        {link.isFirstUser && (
          <>
            <Group grow align="flex-start">
              <TextInput label={t('users.firstName')} autoComplete="given-name" data-autofocus {...text('first_name')} />
              <TextInput label={t('users.lastName')} autoComplete="family-name" {...text('last_name')} />
            </Group>
            <TextInput label={t('signIn.email')} type="email" autoComplete="username" {...text('email')} />
          </>
        )}
        <PasswordField
          label={t('signIn.newPassword')}
          description={t('users.passwordHelp')}
          autoComplete="new-password"
          required
          withAsterisk={false}
          value={password}
          error={fieldMessage(use.error, 'password')}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
        <Button type="submit" loading={use.isPending} fullWidth mt="xs">
          {t('signIn.submit')}
        </Button>
      </Stack>
    </form>
  )
}

/** The secret of the link does not stay in the address. */
function removeSecret(): void {
  history.replaceState(null, '', location.pathname)
}
