import { Radio, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { fieldMessage } from '../api/client.ts'
import { useSession } from '../api/session.tsx'
import { ErrorAlert } from '../layout/error-alert.tsx'
import { FormButtons } from '../layout/form-buttons.tsx'
import { formatTime } from '../layout/format.ts'
import { toLocalTime } from '../layout/local-time.ts'
import { SecretDialog } from '../layout/secret-dialog.tsx'
import { ExpiryInput, toExpiryDate } from './expiry-input.tsx'
import type { KeyRecord } from './key-record.ts'
import { PermissionList } from './permission-list.tsx'

/** What happens to the old key: it stays valid until it is revoked, or it is replaced at once. */
type OldKey = 'keep' | 'replace'

/** Creates a key with the name and the permissions of another one. Afterwards it shows the new key. */
export function RotateKey({ owner, record, close }: { owner: string; record: KeyRecord; close: () => void }) {
  const { t } = useTranslation()
  const [oldKey, setOldKey] = useState<OldKey>('keep')
  const [expires, setExpires] = useState(record.isExpired ? '' : toLocalTime(record.expires))
  const rotate = useRotation({ owner, record, oldKey, expires })
  const time = formatTime(record.expires)
  const describeOldKey = () => {
    if (record.isExpired) return t('keys.newText')
    if (oldKey === 'replace') return t('keys.newTextReplace')
    return time === '' ? t('keys.newTextKeep') : t('keys.newTextKeepUntil', { time })
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    rotate.mutate()
  }
  const cancel = () => {
    // The response has the secret.
    if (!rotate.isPending) close()
  }
  return (
    <SecretDialog
      title={t('keys.rotateTitle', { name: record.name })}
      isPending={rotate.isPending}
      secret={rotate.data && { title: t('keys.new'), text: describeOldKey(), label: record.name, value: rotate.data.value }}
      close={close}
    >
      <form onSubmit={submit}>
        <Stack>
          <ErrorAlert error={rotate.error} />
          <div>
            <Text size="sm" mb={4}>
              {t('keys.rotateText')}
            </Text>
            {record.hasEverything ? (
              <Text size="sm" fw={600}>
                {t('keys.rotateEverything')}
              </Text>
            ) : (
              <PermissionList resources={record.resources} />
            )}
          </div>
          {record.isExpired ? (
            <Text size="sm">{t('keys.hasExpired')}</Text>
          ) : (
            <Radio.Group label={t('keys.oldKey')} value={oldKey} onChange={(value) => setOldKey(value === 'replace' ? 'replace' : 'keep')}>
              <Stack gap="xs" mt={6}>
                <Radio value="keep" label={time === '' ? t('keys.keep') : t('keys.keepUntil', { time })} description={t('keys.keepHelp')} />
                <Radio value="replace" label={t('keys.replace')} description={t('keys.replaceHelp')} />
              </Stack>
            </Radio.Group>
          )}
          {oldKey === 'keep' && <ExpiryInput value={expires} onChange={setExpires} error={fieldMessage(rotate.error, 'expiry_date')} />}
          {oldKey === 'replace' && time !== '' && <Text size="sm">{t('keys.replaceExpires', { time })}</Text>}
          <FormButtons submitLabel={t('keys.rotate')} isPending={rotate.isPending} close={cancel} />
        </Stack>
      </form>
    </SecretDialog>
  )
}

/** Returns the mutation that creates the new key. Its data has the value of that key. */
function useRotation({ owner, record, oldKey, expires }: { owner: string; record: KeyRecord; oldKey: OldKey; expires: string }) {
  const { api } = useSession()
  const queryClient = useQueryClient()
  return useMutation({
    async mutationFn() {
      if (oldKey === 'replace') return { value: (await api.call('regenerateApiKey', { path: { api_key: record.key } })).new_key }
      const permissions = record.hasEverything ? { preset: 'admin' as const } : { resources: [...record.resources] }
      const payload = { application_name: record.name, ...permissions, ...toExpiryDate(expires) }
      return { value: (await api.call('createApiKey', { path: { user_id: owner }, payload })).key }
    },
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['keys'] }),
  })
}
