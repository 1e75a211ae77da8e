import { Button, Stack, Text, Title } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { fieldMessage } from '../api/client.ts'
import { useSession } from '../api/session.tsx'
import { ErrorAlert } from '../layout/error-alert.tsx'
import { FormDialog } from '../layout/form-dialog.tsx'
import { notifySuccess } from '../layout/notify.ts'
import { PasswordField } from '../layout/password-field.tsx'
import { SubmitButton } from '../layout/submit-button.tsx'
import { useRecentSignIn } from './use-recent-sign-in.tsx'

/** Lets the user choose a new password, after a recent sign-in. */
export function PasswordSection() {
  const { t } = useTranslation()
  const [isOpen, { open, close }] = useDisclosure(false)
  return (
    <section>
      <Title order={2} size="h4">
        {t('account.password')}
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        {t('account.passwordText')}
      </Text>
      <Button size="sm" variant="default" onClick={open}>
        {t('account.changePassword')}
      </Button>
      {isOpen && <PasswordDialog close={close} />}
    </section>
  )
}

function PasswordDialog({ close }: { close: () => void }) {
  const { t } = useTranslation()
  const { api, user } = useSession()
  const queryClient = useQueryClient()
  const recentSignIn = useRecentSignIn()
  const [password, setPassword] = useState('')
  const save = useMutation({
    mutationFn: () => recentSignIn.run(() => api.call('updateOwnUser', { payload: { password } })),
    onSuccess() {
      notifySuccess(t('account.passwordChanged'))
      void queryClient.invalidateQueries({ queryKey: ['sessions'] })
      close()
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate()
  }
  return (
    <>
      <FormDialog title={t('account.changePassword')} isChanged={password.length > 0} close={close}>
        <Stack component="form" onSubmit={submit}>
          <ErrorAlert error={save.error} fields={['password']} />
          {/* Password managers store the new password for this address. */}
          <input
            className="visually-hidden"
            type="email"
            autoComplete="username"
            readOnly
            tabIndex={-1}
            aria-hidden="true"
            value={user.email}
          />
          <PasswordField
            label={t('signIn.newPassword')}
            description={t('users.passwordHelp')}
            autoComplete="new-password"
            required
            withAsterisk={false}
            minLength={8}
            maxLength={128}
            data-autofocus
            value={password}
            error={fieldMessage(save.error, 'password')}
            onChange={(event) => setPassword(event.currentTarget.value)}
          />
          <SubmitButton isPending={save.isPending}>{t('account.changePassword')}</SubmitButton>
        </Stack>
      </FormDialog>
      {recentSignIn.dialog}
    </>
  )
}
