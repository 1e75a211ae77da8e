import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { useEffect, useRef } from 'react'
import { useTranslation } from 'react-i18next'

/** Longer lists are cut. */
const MAX_VALUES = 5

/** A value of the other person. */
export interface OtherValue {
  label: string
  value: string
}

interface Props {
  title: string
  text: string
  /** The values that would be overwritten. */
  theirs?: readonly OtherValue[]
  isPending: boolean
  /** Overwrites the version of the other person. */
  keepMine: () => void
  /** Loads the version of the other person, and discards this one. */
  loadTheirs: () => void
}

/** Shown if another person has changed a record since it was opened. The user decides which version to keep. */
export function ConflictAlert({ title, text, theirs = [], isPending, keepMine, loadTheirs }: Props) {
  const { t } = useTranslation()
  const alert = useRef<HTMLDivElement>(null)
  // The button that saves can be far below.
  useEffect(() => {
    // Some browsers return a promise, which must not become the result of the effect.
    void alert.current?.scrollIntoView({ block: 'center' })
  }, [])
  return (
    <Alert ref={alert} color="orange" title={title} role="alert">
      <Stack gap="sm">
        <Text size="sm">{text}</Text>
        {theirs.slice(0, MAX_VALUES).map(({ label, value }) => (
          <Text key={label} size="sm" lineClamp={3} className="page-title">
            {t('video.theirs', { label })} <q>{value}</q>
          </Text>
        ))}
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
