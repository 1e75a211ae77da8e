import { Anchor, Button, Divider, Paper, Stack, Text, TextInput, Title } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { type FormEvent, useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { guestClient } from '../api/client.ts'
import { canUsePasskeys } from '../api/passkey.ts'
import { storeSession } from '../api/session.tsx'
import icon from '../icon.svg'
import { ErrorAlert } from '../layout/error-alert.tsx'
import { LinkForm } from './link-form.tsx'
import { PasskeyButton } from './passkey-button.tsx'
import { completeProviderSignIn, openProvider, readProviderProblem, useHasProvider } from './provider-sign-in.ts'
import { readProviderReturn, readSignInLink } from './sign-in-address.ts'
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
          {link ? <LinkForm link={link} /> : isResetting ? <ResetForm /> : <SignInForm others={<OtherSignIns />} />}
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

/** The ways to sign in without a password that this browser and the platform support. */
function OtherSignIns() {
  const { t } = useTranslation()
  // A user who returns from the provider sees the result, even if the provider was removed meanwhile.
  const [hasReturned] = useState(() => readProviderReturn(location.search) !== undefined)
  const isConfigured = useHasProvider()
  const hasProvider = hasReturned || isConfigured
  if (!canUsePasskeys() && !hasProvider) return null
  return (
    <>
      <Divider label={t('signIn.or')} />
      {canUsePasskeys() && <PasskeyButton variant="default" />}
      {hasProvider && <ProviderButton />}
    </>
  )
}

/** Opens the identity provider of the platform, and ends the sign-in when it returns the user. */
function ProviderButton() {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  const router = useRouter()
  const open = useMutation({ mutationFn: openProvider })
  const complete = useMutation({
    mutationFn: completeProviderSignIn,
    async onSuccess({ session, page }) {
      if (page !== null) {
        router.history.replace(page)
        await router.load()
      }
      storeSession(queryClient, session)
    },
  })
  const { mutate } = complete
  useEffect(() => {
    const returned = readProviderReturn(location.search)
    if (returned) mutate(returned)
  }, [mutate])
  const begin = () => {
    complete.reset()
    open.mutate()
  }
  const error = open.error ?? complete.error
  const problem = readProviderProblem(error)
  return (
    <Stack gap="xs">
      <ErrorAlert error={problem ? t(problem) : error} />
      <Button variant="default" fullWidth loading={open.isPending || complete.isPending} onClick={begin}>
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
