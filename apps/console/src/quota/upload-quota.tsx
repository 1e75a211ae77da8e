import { Alert } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { formatBytes } from '../layout/format.ts'
import { hasMinutesLeft, remainingBytes } from './remaining.ts'
import { UsageBar } from './usage-bars.tsx'
import { useUsage } from './use-usage.ts'

/** Shows before an upload what the quota leaves. Shows nothing without a limit. */
export function UploadQuota() {
  const { t } = useTranslation()
  const { data } = useUsage()
  if (!data) return null
  const { quota, usage } = data
  const free = remainingBytes(data)
  const isFull = free === 0
  const reserved = Number(usage.bytes_reserved)
  return (
    <>
      {isFull && <Alert color="orange" role="alert" title={t('quota.noBytes')} />}
      {!hasMinutesLeft(data) && <Alert color="orange" role="alert" title={t('quota.noMinutes')} />}
      {free !== undefined && (
        <UsageBar
          name={t('quota.left', { left: formatBytes(free) })}
          used={Number(usage.bytes) + reserved}
          reserved={reserved}
          limit={quota.bytes}
          format={formatBytes}
        />
      )}
    </>
  )
}
