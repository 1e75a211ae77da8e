import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { toLocalInput, toUtcTime } from '../layout/local-time.ts'

/** Input for the local time at which a key expires. Empty: it does not expire. */
export function ExpiryInput({ value, onChange, error }: { value: string; onChange: (value: string) => void; error: string | undefined }) {
  const { t } = useTranslation()
  const [now] = useState(() => toLocalInput(Date.now()))
  return (
    <TextInput
      label={t('keys.expires')}
      description={t('keys.expiresHelp')}
      type="datetime-local"
      min={now}
      value={value}
      error={error}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}

/** Returns the field of a new key for the value of the input. */
export function toExpiryDate(value: string): { expiry_date?: string } {
  return value === '' ? {} : { expiry_date: `${toUtcTime(value)} GMT` }
}
