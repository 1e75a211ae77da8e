import { Anchor, Button, Divider, Paper, Stack, Text, TextInput, Title } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { guestClient } from '../api/client.ts'
import { SESSION_KEY } from '../api/session.tsx'
import icon from '../icon.svg'
import { ErrorAlert } from '../layout/error-alert.tsx'
import { LinkForm } from './link-form.tsx'
import { completeProviderSignIn, openProvider } from './provider-sign-in.ts'
import { readProviderResponse, readSignInLink } from './sign-in-address.ts'
import { SignInForm } from './sign-in-form.tsx'

/** Shown to users who have not signed in. The session that its forms store replaces the page. */
export function SignInPage() {
  const { t } = useTranslation()
  const [link] = useState(() => readSignInLink(location.hash))
  const [isResetting, setResetting] = useState(false)
  useEffect(() => {
    document.title = `${t('signIn.title')} · Vitascope`
  }, [t])
  return (
    <main className="sign-in">
      <Stack w="100%" maw={400} gap="lg">
        <Stack gap={6} align="center">
          <img src={icon} alt="" width={52} height={52} />
          <Title order={1} size="h2">
            {t(link ? 'signIn.welcome' : isResetting ? 'signIn.reset' : 'signIn.title')}
          </Title>
          <Text c="dimmed" size="sm" ta="center">
            {t('signIn.lead')}
          </Text>
        </Stack>
        <Paper withBorder shadow="sm" p="xl" radius="lg">
          {link ? (
            <LinkForm link={link} />
          ) : isResetting ? (
            <ResetForm />
          ) : (
            <Stack>
              <SignInForm />
              <Divider label={t('signIn.or')} />
              <ProviderButton />
            </Stack>
          )}
        </Paper>
        {!link && (
          <Anchor component="button" type="button" size="sm" ta="center" onClick={() => setResetting(!isResetting)}>
            {t(isResetting ? 'signIn.back' : 'signIn.forgotten')}
          </Anchor>
        )}
      </Stack>
    </main>
  )
}

/** Opens the identity provider of the platform, and ends the sign-in when it returns the user. */
function ProviderButton() {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  const open = useMutation({ mutationFn: openProvider })
  const complete = useMutation({
    mutationFn: completeProviderSignIn,
    onSuccess: (session) => queryClient.setQueryData(SESSION_KEY, session),
  })
  const { mutate } = complete
  useEffect(() => {
    const response = readProviderResponse(location.search)
    if (response) mutate(response)
  }, [mutate])
  const error = open.error ?? complete.error
  return (
    <Stack gap="xs">
      <ErrorAlert error={error} />
      <Button variant="default" fullWidth loading={open.isPending || complete.isPending} onClick={() => open.mutate()}>
        {t('signIn.provider')}
      </Button>
    </Stack>
  )
}

/** Requests a mail with a link for a new password. */
function ResetForm() {
  const { t } = useTranslation()
  const [email, setEmail] = useState('')
  const reset = useMutation({ mutationFn: () => guestClient.call('requestPasswordReset', { payload: { email } }) })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    reset.mutate()
  }
  if (reset.isSuccess) return <Text role="status">{t('signIn.resetSent')}</Text>
  return (
    <form onSubmit={submit}>
      <Stack>
        <ErrorAlert error={reset.error} />
        <TextInput
          label={t('signIn.email')}
          type="email"
          autoComplete="username"
          required
          withAsterisk={false}
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
        />
        <Button type="submit" loading={reset.isPending} fullWidth mt="xs">
          {t('signIn.sendLink')}
        </Button>
      </Stack>
    </form>
  )
}
