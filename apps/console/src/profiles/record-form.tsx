import { Stack } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { isConflict } from '../api/client.ts'
import type { Versioned } from '../api/read-with-etag.ts'
import { ConflictAlert } from '../layout/conflict-alert.tsx'
import { ErrorAlert } from '../layout/error-alert.tsx'
import { FormButtons } from '../layout/form-buttons.tsx'
import { notifySuccess } from '../layout/notify.ts'
import { useUnsavedChanges } from '../layout/unsaved-changes.tsx'

/** Properties of the fields of a record that was read. */
export interface RecordFieldsProps<Form> {
  /** Undefined for a new record. */
  id: string | undefined
  loaded: Versioned<Form>
  reload: () => Promise<unknown>
  readEtag: () => Promise<string | undefined>
  close: () => void
}

interface Options<Form> {
  initial: Form
  /** Sends the fields that differ from `initial`. With `ifMatch`, only if the record has not changed since it was read. */
  send: (changes: Partial<Form>, ifMatch: string | undefined) => Promise<unknown>
  /** ETag of the record. Undefined for a new one. */
  etag: string | undefined
  /** Returns the ETag of the current record. */
  readEtag: () => Promise<string | undefined>
  onSaved: () => void
}

/** State of a form for a profile or a theme. */
export function useRecordForm<Form extends object>({ initial, send, etag, readEtag, onSaved }: Options<Form>) {
  const { t } = useTranslation()
  const [form, setForm] = useState(initial)
  const changes = Object.fromEntries(Object.entries(form).filter(([name, value]) => initial[name as keyof Form] !== value)) as Partial<Form>
  const saving = useMutation({
    mutationFn: async ({ overwrites }: { overwrites: boolean }) => send(changes, overwrites ? await readEtag() : etag),
    onSuccess() {
      notifySuccess(t('common.saved'))
      onSaved()
    },
  })
  return { form, setForm, saving, isChanged: Object.keys(changes).length > 0 }
}

interface FrameProps {
  saving: { error: unknown; isPending: boolean; mutate: (options: { overwrites: boolean }) => void }
  isChanged: boolean
  submitLabel: string
  /** Loads the version of the other person, and discards this one. */
  loadTheirs: () => void
  close: () => void
  children: ReactNode
}

/** The form with its buttons. If another person has changed the record, the user decides which version to keep. */
export function RecordForm({ saving, isChanged, submitLabel, loadTheirs, close, children }: FrameProps) {
  const { t } = useTranslation()
  const { error } = saving
  useUnsavedChanges(isChanged)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    saving.mutate({ overwrites: false })
  }
  return (
    <form onSubmit={submit}>
      <Stack>
        {isConflict(error) ? (
          <ConflictAlert
            title={t('profiles.conflict')}
            text={t('common.conflictText')}
            isPending={saving.isPending}
            keepMine={() => saving.mutate({ overwrites: true })}
            loadTheirs={loadTheirs}
          />
        ) : (
          <ErrorAlert error={error} />
        )}
        {children}
        <FormButtons submitLabel={submitLabel} isPending={saving.isPending} isDisabled={!isChanged} close={close} />
      </Stack>
    </form>
  )
}
