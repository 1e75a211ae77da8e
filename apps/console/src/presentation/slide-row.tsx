import { Button, Group, Paper, Stack, Text } from '@mantine/core'
import { IconPlayerPlay } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { usePlayerActions } from '../player/player-control.tsx'
import { parseTimeCode } from '../player/time-code.ts'
import { TimeField } from '../player/time-field.tsx'

interface Props {
  number: string
  /** URL of the small picture, with a video token if the video requires one. */
  thumbnail: string
  /** A time such as `00:01:02`. Empty if the slide has none. */
  time: string
  /** Without it, the time cannot be changed. */
  change?: (time: string) => void
  error?: string | undefined
  /** Duration of the video in seconds. 0 if it is unknown. */
  duration: number
  /** The player shows this slide. */
  isCurrent: boolean
}

/** A slide with the time at which it appears. */
export function SlideRow({ number, thumbnail, time, change, error, duration, isCurrent }: Props) {
  const { t } = useTranslation()
  const { jump } = usePlayerActions()
  const seconds = parseTimeCode(time)
  return (
    <Paper withBorder p="xs" component="li" className="clip" aria-current={isCurrent || undefined}>
      <Group wrap="nowrap" gap="sm" align="flex-start">
        <img className="slide-thumbnail" src={thumbnail} alt={t('presentation.slide', { number })} loading="lazy" />
        <Stack gap={6} flex={1} miw={0} align="flex-start">
          <Text size="sm" fw={600} aria-hidden="true">
            {t('presentation.slide', { number })}
          </Text>
          {change ? (
            <TimeField
              label={t('presentation.time', { number })}
              hasHiddenLabel
              unit="second"
              duration={duration}
              value={time}
              error={error}
              onChange={change}
            />
          ) : (
            <Text size="sm" className="time-code">
              {time === '' ? t('presentation.noTime') : time}
            </Text>
          )}
          <Button
            size="compact-sm"
            variant="subtle"
            disabled={seconds === undefined}
            leftSection={<IconPlayerPlay size={14} aria-hidden="true" />}
            aria-label={`${t('presentation.show')}: ${t('presentation.slide', { number })}`}
            onClick={() => void jump(seconds ?? 0)}
          >
            {t('presentation.show')}
          </Button>
        </Stack>
      </Group>
    </Paper>
  )
}
