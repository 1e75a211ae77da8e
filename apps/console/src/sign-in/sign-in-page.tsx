import { Paper, Stack, Text, Title } from '@mantine/core'
import { useEffect } from 'react'
import { useTranslation } from 'react-i18next'
import icon from '../icon.svg'
import { SignInForm } from './sign-in-form.tsx'

/** Shown to users who have not signed in. The session that the form stores replaces the page. */
export function SignInPage() {
  const { t } = useTranslation()
  useEffect(() => {
    document.title = `${t('signIn.title')} · Vitascope`
  }, [t])
  return (
    <main className="sign-in">
      <Stack w="100%" maw={400} gap="lg">
        <Stack gap={6} align="center">
          <img src={icon} alt="" width={52} height={52} />
          <Title order={1} size="h2">
            {t('signIn.title')}
          </Title>
          <Text c="dimmed" size="sm" ta="center">
            {t('signIn.lead')}
          </Text>
        </Stack>
        <Paper withBorder shadow="sm" p="xl" radius="lg">
          <SignInForm />
        </Paper>
      </Stack>
    </main>
  )
}
