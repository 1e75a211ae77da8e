import { ActionIcon, TextInput, Tooltip } from '@mantine/core'
import { IconClockPin } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { usePlayerActions } from './player-control.tsx'
import { formatSeconds, formatTimeCode, parseTimeCode, toFrameTime } from './time-code.ts'

interface Props {
  label: string
  /** A time such as `00:01:02.480`. */
  value: string
  onChange: (value: string) => void
  /** Smallest unit that can be stored. */
  unit: 'millisecond' | 'second'
  /** Duration of the video in seconds. 0 if it is unknown. */
  duration: number
  isRequired?: boolean
  /** The label is presented by screen readers only. */
  hasHiddenLabel?: boolean
  error?: string | undefined
}

/** Returns true if the text is a time in the unit. */
export function isTime(value: string, unit: Props['unit']): boolean {
  const seconds = parseTimeCode(value)
  return seconds !== undefined && (unit === 'millisecond' || Number.isInteger(seconds))
}

/** Input for a time of the video, with a button that enters the current time of the player. */
export function TimeField({ label, value, onChange, unit, duration, isRequired = false, hasHiddenLabel = false, error }: Props) {
  const { t } = useTranslation()
  const { readTime } = usePlayerActions()
  const take = async () => {
    const seconds = await readTime()
    if (seconds === undefined) return
    onChange(unit === 'second' ? formatSeconds(Math.floor(seconds)) : formatTimeCode(toFrameTime(seconds, duration)))
  }
  const help = value === '' || isTime(value, unit) ? undefined : t(unit === 'second' ? 'player.secondsHelp' : 'player.timeHelp')
  return (
    <TextInput
      {...(hasHiddenLabel ? { 'aria-label': label } : { label })}
      placeholder={unit === 'second' ? '00:01:02' : '00:01:02.480'}
      classNames={{ input: 'time-code' }}
      required={isRequired}
      value={value}
      error={help ?? error}
      onChange={(event) => onChange(event.currentTarget.value)}
      rightSection={
        <Tooltip label={t('player.take')}>
          <ActionIcon variant="subtle" aria-label={`${t('player.take')}: ${label}`} onClick={() => void take()}>
            <IconClockPin size={18} />
          </ActionIcon>
        </Tooltip>
      }
    />
  )
}
