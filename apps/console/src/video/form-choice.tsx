import { Select, Stack } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { Schemas } from '@vitascope/sdk'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { fieldMessage } from '../api/client.ts'
import { MAX_OPTIONS, MAX_RECORDS } from '../api/max-records.ts'
import { useSession } from '../api/session.tsx'
import { ErrorAlert } from '../layout/error-alert.tsx'
import { SaveButtons } from '../layout/form-buttons.tsx'
import { notifySuccess } from '../layout/notify.ts'
import { useUnsavedChanges } from '../layout/unsaved-changes.tsx'
import { addEnglish } from '../translation/add-english.ts'
import { formTexts } from '../translation/english/forms.ts'
import type { LoadedVideo } from './use-video.ts'

addEnglish(formTexts)

/** Contact form that viewers see in front of a video. Shows nothing if the organisation has no forms. */
export function FormChoice({ video: { video_id, contact_form_id } }: { video: Schemas['Video'] }) {
  const { t } = useTranslation()
  const { api, organisationId } = useSession()
  const queryClient = useQueryClient()
  const queryKey = ['video', video_id]
  const stored = contact_form_id ?? ''
  /** Undefined: unchanged. */
  const [selected, setSelected] = useState<string>()
  const isChanged = selected !== undefined && selected !== stored
  useUnsavedChanges(isChanged)
  const forms = useQuery({
    queryKey: ['forms', organisationId],
    queryFn: ({ signal }) => api.list('listContactForms', { signal }).toArray(MAX_RECORDS),
  })
  const save = useMutation({
    mutationFn: (id: string) =>
      api.call('updateVideo', {
        path: { video_id },
        payload: { contact_form_id: id },
        ifMatch: queryClient.getQueryData<LoadedVideo>(queryKey)?.etag,
      }),
    onSuccess: () => notifySuccess(t('common.saved')),
    // After a conflict, the next attempt is for the current record.
    onSettled: () => queryClient.invalidateQueries({ queryKey }),
  })
  const list = forms.data ?? []
  if (list.length === 0 && stored === '' && !forms.isError) return null
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (selected !== undefined) save.mutate(selected)
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <ErrorAlert error={forms.error ?? save.error} />
        <Select
          label={t('forms.choice')}
          description={t('forms.choiceHelp')}
          data={[
            { value: '', label: t('forms.noChoice') },
            ...(stored === '' || list.some(({ id }) => id === stored) ? [] : [{ value: stored, label: stored }]),
            ...list.map(({ id, reference, primary_text }) => ({ value: id, label: reference || primary_text || id })),
          ]}
          value={selected ?? stored}
          allowDeselect={false}
          searchable
          limit={MAX_OPTIONS}
          error={fieldMessage(save.error, 'contact_form_id')}
          onChange={(id) => setSelected(id ?? '')}
        />
        <SaveButtons isChanged={isChanged} isPending={save.isPending} discard={() => setSelected(undefined)} />
      </Stack>
    </form>
  )
}
