import { Group, Select, Stack } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { fieldMessage } from '../api/client.ts'
import { ConflictAlert } from '../layout/conflict-alert.tsx'
import { ErrorAlert } from '../layout/error-alert.tsx'
import { SaveButtons } from '../layout/form-buttons.tsx'
import { listChanges, listConflicts, mergeChanges } from '../layout/merge-changes.ts'
import { notifySuccess } from '../layout/notify.ts'
import { useUnsavedChanges } from '../layout/unsaved-changes.tsx'
import { addEnglish } from '../translation/add-english.ts'
import { profileTexts } from '../translation/english/profiles.ts'
import { useProfiles, useThemes } from './use-profiles.ts'

addEnglish(profileTexts)

export interface PlayerIds {
  /** Id of the profile. Empty if there is none. */
  settingId: string
  /** Id of the theme. Empty if there is none. */
  themeId: string
}

interface Props {
  stored: PlayerIds
  /** Stores the ids that have changed. */
  save: (changes: Partial<PlayerIds>) => Promise<unknown>
  /** Reads the stored ids again. */
  refresh: () => Promise<unknown>
  /** Text of the choice of none. */
  none: string
  /** Names of the ids in errors. */
  fields: PlayerIds
  /** Explanation below the inputs. */
  children?: ReactNode
}

/**
 * Form for a player settings profile and a theme of the organisation. It keeps what was selected when the stored ids are
 * read again. An id that only another person has changed is updated. If both have changed the same id, the user decides.
 */
export function PlayerForm({ stored, save, refresh, none, fields, children }: Props) {
  const { t } = useTranslation()
  /** The stored ids on which the form is based. */
  const [base, setBase] = useState(stored)
  const [ids, setIds] = useState(stored)
  const profiles = useProfiles()
  const themes = useThemes()
  const hasConflict = listConflicts(ids, base, stored).length > 0
  if (!hasConflict && listChanges(stored, base).length > 0) {
    setBase(stored)
    setIds(mergeChanges(ids, base, stored))
  }
  const isChanged = listChanges(ids, base).length > 0
  useUnsavedChanges(isChanged)
  const saving = useMutation({
    mutationFn: save,
    onSuccess: () => notifySuccess(t('common.saved')),
    // After a conflict, the next attempt is for the current record.
    onSettled: refresh,
  })
  const saveChangesOf = (from: PlayerIds) =>
    saving.mutate(Object.fromEntries(listChanges(ids, from).map((name) => [name, ids[name]])) as Partial<PlayerIds>)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    saveChangesOf(base)
  }
  const options = (list: readonly { id: string; title: string }[] = [], current: string) => [
    { value: '', label: none },
    ...(current === '' || list.some(({ id }) => id === current) ? [] : [{ value: current, label: current }]),
    ...list.map(({ id, title }) => ({ value: id, label: title || id })),
  ]
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <ErrorAlert error={profiles.error ?? themes.error ?? (hasConflict ? undefined : saving.error)} />
        {hasConflict && (
          <ConflictAlert
            title={t('profiles.conflict')}
            text={t('common.conflictText')}
            isPending={saving.isPending}
            keepMine={() => {
              setBase(stored)
              saveChangesOf(stored)
            }}
            loadTheirs={() => {
              setBase(stored)
              setIds(stored)
              saving.reset()
            }}
          />
        )}
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
        <SaveButtons isChanged={isChanged} isPending={saving.isPending} isInvalid={hasConflict} discard={() => setIds(base)} />
      </Stack>
    </form>
  )
}
