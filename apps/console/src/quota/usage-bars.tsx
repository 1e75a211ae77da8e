import { Group, Progress, Stack, Text } from '@mantine/core'
import type { Schemas } from '@vitascope/sdk'
import { useTranslation } from 'react-i18next'
import { formatBytes, formatNumber } from '../layout/format.ts'

/** Share of a limit from which the bar changes its colour. */
const NEARLY_FULL = 0.9

/** What an organisation uses of its storage, minutes and jobs. */
export function UsageBars({ record: { quota, usage } }: { record: Pick<Schemas['OrganisationUsage'], 'quota' | 'usage'> }) {
  const { t } = useTranslation()
  const minutes = (count: number) => t('organisation.minutesValue', { count, formatted: formatNumber(count) })
  const rows = [
    { name: t('organisation.bytes'), used: usage.bytes, reserved: usage.bytes_reserved, limit: quota.bytes, format: formatBytes },
    {
      ...{ name: t('organisation.minutes'), used: usage.minutes_this_month, reserved: usage.minutes_reserved },
      ...{ limit: quota.minutes_per_month, format: minutes },
    },
    { name: t('organisation.jobs'), used: usage.jobs, reserved: '0', limit: quota.concurrent_jobs, format: formatNumber },
  ]
  return (
    <Stack gap="lg">
      {rows.map((row) => (
        <UsageBar key={row.name} {...row} used={Number(row.used) + Number(row.reserved)} reserved={Number(row.reserved)} />
      ))}
    </Stack>
  )
}

interface BarProps {
  name: string
  /** The amount that counts, with what is reserved. */
  used: number
  reserved: number
  limit: string | null
  format: (amount: number) => string
}

/** One amount with its limit. Without a limit, there is no bar. */
export function UsageBar({ name, used, reserved, limit, format }: BarProps) {
  const { t } = useTranslation()
  const share = limit === null ? 0 : Number(limit) === 0 ? 1 : used / Number(limit)
  return (
    <div>
      <Group justify="space-between" gap="xs">
        <Text size="sm" fw={600}>
          {name}
        </Text>
        <Text size="sm">
          {limit === null
            ? t('organisation.usedNoLimit', { used: format(used) })
            : t('organisation.usedOf', { used: format(used), limit: format(Number(limit)) })}
        </Text>
      </Group>
      {limit !== null && (
        <Progress
          value={Math.min(100, share * 100)}
          color={share >= 1 ? 'red' : share >= NEARLY_FULL ? 'orange' : 'indigo'}
          size="md"
          mt={4}
          aria-label={name}
        />
      )}
      {reserved > 0 && (
        <Text size="xs" c="dimmed" mt={2}>
          {t('organisation.reserved', { amount: format(reserved) })}
        </Text>
      )}
    </div>
  )
}
