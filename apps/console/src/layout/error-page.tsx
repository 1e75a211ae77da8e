import { Button, Container, Stack, Text, Title } from '@mantine/core'
import { type ErrorComponentProps, Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { toMessage } from '../api/client.ts'

/** Shown for an address that has no page. */
export function NotFoundPage() {
  return (
    <Container size="xs" py={80} component="main">
      <NotFoundMessage />
    </Container>
  )
}

/** Shown in the frame of the pages for an address that has no page for this user. */
export function NotFoundMessage() {
  const { t } = useTranslation()
  return (
    <Stack align="flex-start">
      <Title order={1}>{t('error.notFound')}</Title>
      <Text>{t('error.notFoundText')}</Text>
      <Button renderRoot={(props) => <Link to="/videos" {...props} />}>{t('error.home')}</Button>
    </Stack>
  )
}

/** Shown if a page fails while it is rendered or loaded. */
export function ErrorPage({ error, reset }: ErrorComponentProps) {
  const { t } = useTranslation()
  return (
    <Container size="xs" py={80} component="main">
      <Stack align="flex-start">
        <Title order={1}>{t('error.title')}</Title>
        <Text role="alert">{toMessage(error)}</Text>
        <Button onClick={reset}>{t('common.retry')}</Button>
      </Stack>
    </Container>
  )
}
