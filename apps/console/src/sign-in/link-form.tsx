import { Button, Group, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { fieldMessage, guestClient, isPasskeyRequired } from '../api/client.ts'
import { SESSION_KEY } from '../api/session.tsx'
import { ErrorAlert } from '../layout/error-alert.tsx'
import { bindTexts } from '../layout/form-values.ts'
import type { SignInLink } from './sign-in-address.ts'

/** Form of a link: the user chooses a password. The first user of a platform also enters an address and a name. */
export function LinkForm({ link }: { link: SignInLink }) {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  const [password, setPassword] = useState('')
  const [first, setFirst] = useState({ email: '', first_name: '', last_name: '' })
  const use = useMutation({
    mutationFn: () => guestClient.call('useSignInLink', { payload: { link: link.secret, password, ...(link.isFirstUser && first) } }),
    onSuccess(session) {
      removeSecret()
      queryClient.setQueryData(SESSION_KEY, session)
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
        <ErrorAlert error={use.error} />
        {link.isFirstUser && (
          <>
            <Group grow align="flex-start">
              <TextInput label={t('users.firstName')} autoComplete="given-name" data-autofocus {...text('first_name')} />
              <TextInput label={t('users.lastName')} autoComplete="family-name" {...text('last_name')} />
            </Group>
            <TextInput label={t('signIn.email')} type="email" autoComplete="username" {...text('email')} />
          </>
        )}
        <PasswordInput
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
