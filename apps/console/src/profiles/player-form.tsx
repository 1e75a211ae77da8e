import { Button, Group, Select, Stack } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { fieldMessage } from '../api/client.ts'
import { ErrorAlert } from '../layout/error-alert.tsx'
import { notifySuccess } from '../layout/notify.ts'
import { useProfiles, useThemes } from './use-profiles.ts'

export interface PlayerIds {
  /** Id of the profile. Empty if there is none. */
  settingId: string
  /** Id of the theme. Empty if there is none. */
  themeId: string
}

interface Props {
  stored: PlayerIds
  save: (ids: PlayerIds) => Promise<unknown>
  /** Reads the stored ids again. */
  refresh: () => Promise<unknown>
  /** Text of the choice of none. */
  none: string
  /** Names of the ids in errors. */
  fields: PlayerIds
  /** Explanation below the inputs. */
  children?: ReactNode
}

/** Form for a player settings profile and a theme of the organisation. */
export function PlayerForm({ stored, save, refresh, none, fields, children }: Props) {
  const { t } = useTranslation()
  const [ids, setIds] = useState(stored)
  const profiles = useProfiles()
  const themes = useThemes()
  const isChanged = ids.settingId !== stored.settingId || ids.themeId !== stored.themeId
  const saving = useMutation({
    mutationFn: () => save(ids),
    onSuccess: () => notifySuccess(t('common.saved')),
    // After a conflict, the next attempt is for the current record.
    onSettled: refresh,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    saving.mutate()
  }
  const options = (list: readonly { id: string; title: string }[] = [], current: string) => [
    { value: '', label: none },
    ...(current === '' || list.some(({ id }) => id === current) ? [] : [{ value: current, label: current }]),
    ...list.map(({ id, title }) => ({ value: id, label: title || id })),
  ]
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <ErrorAlert error={profiles.error ?? themes.error ?? saving.error} />
        <Group grow align="flex-start">
          <Select
            label={t('profiles.profile')}
            data={options(profiles.data, ids.settingId)}
            value={ids.settingId}
            allowDeselect={false}
            error={fieldMessage(saving.error, fields.settingId)}
            onChange={(settingId) => setIds({ ...ids, settingId: settingId ?? '' })}
          />
          <Select
            label={t('profiles.theme')}
            data={options(themes.data, ids.themeId)}
            value={ids.themeId}
            allowDeselect={false}
            error={fieldMessage(saving.error, fields.themeId)}
            onChange={(themeId) => setIds({ ...ids, themeId: themeId ?? '' })}
          />
        </Group>
        {children}
        <Group>
          <Button type="submit" disabled={!isChanged} loading={saving.isPending}>
            {t('common.save')}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
