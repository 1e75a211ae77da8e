import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'

interface Props {
  title: string
  text: string
  isPending: boolean
  /** Overwrites the version of the other person. */
  keepMine: () => void
  /** Loads the version of the other person, and discards this one. */
  loadTheirs: () => void
}

/** Shown if another person has changed a record since it was opened. The user decides which version to keep. */
export function ConflictAlert({ title, text, isPending, keepMine, loadTheirs }: Props) {
  const { t } = useTranslation()
  return (
    <Alert color="orange" title={title} role="alert">
      <Stack gap="sm">
        <Text size="sm">{text}</Text>
        <Group gap="xs">
          <Button size="xs" loading={isPending} onClick={keepMine}>
            {t('video.keepMine')}
          </Button>
          <Button size="xs" variant="default" onClick={loadTheirs}>
            {t('video.loadTheirs')}
          </Button>
        </Group>
      </Stack>
    </Alert>
  )
}
