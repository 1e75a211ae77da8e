import { ActionIcon, Button, Group, Stack, Switch, Text, TextInput, Title } from '@mantine/core'
import { IconPlus, IconX } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { Schemas } from '@vitascope/sdk'
import { type FormEvent, useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useSession } from '../api/session.tsx'
import { ErrorAlert } from '../layout/error-alert.tsx'
import { notifySuccess } from '../layout/notify.ts'
import { useUnsavedChanges } from '../layout/unsaved-changes.tsx'
import { addEnglish } from '../translation/add-english.ts'
import { metadataTexts } from '../translation/english/metadata.ts'
import type { LoadedVideo } from '../video/use-video.ts'
import { compareEntries, listEntries, type MetadataEntry, mergeEntries } from './metadata-entries.ts'

addEnglish(metadataTexts)

interface Row extends MetadataEntry {
  rowId: number
  isNew: boolean
}

/** Maximum number of entries of a video. */
const MAX_ENTRIES = 100

/**
 * Values that programs of the organisation store with a video. Names identify them, and are not changed. Entries that a
 * program adds or changes meanwhile are not touched.
 */
export function MetadataSection({ video }: { video: Schemas['Video'] }) {
  const { t } = useTranslation()
  const { api, isSystem } = useSession()
  const queryClient = useQueryClient()
  /** The entries on which the form is based. */
  const [base, setBase] = useState(() => listEntries(video.metadata))
  const [rows, setRows] = useState(() => toRows(base))
  const [nextId, setNextId] = useState(MAX_ENTRIES)
  const { added, changed, deleted } = compareEntries(base, rows)
  const isChanged = added.length + changed.length + deleted.length > 0
  useUnsavedChanges(isChanged)
  useEffect(() => {
    if (isChanged) return
    const entries = listEntries(video.metadata)
    setBase(entries)
    setRows(toRows(entries))
  }, [video.metadata, isChanged])
  const readStored = async () =>
    listEntries((await queryClient.fetchQuery<LoadedVideo>({ queryKey: ['video', video.video_id], staleTime: 0 })).video.metadata)
  const path = { video_id: video.video_id }
  const save = useMutation({
    async mutationFn() {
      const stored = await readStored()
      const conflicts = changed.filter(({ name, value }) => {
        const [before, after] = [base, stored].map((list) => list.find((entry) => entry.name === name)?.value)
        return after !== before && after !== value
      })
      if (conflicts.length > 0) throw new Error(t('metadata.conflict', { names: conflicts.map(({ name }) => name).join(', ') }))
      const toPayload = ({ name, value, private: isPrivate }: MetadataEntry) => ({ name, value, private: isPrivate })
      if (deleted.length > 0) await api.call('deleteVideoMetadata', { path: { ...path, key_names: deleted.join(',') } })
      if (changed.length > 0) await api.call('updateVideoMetadata', { path, payload: changed.map(toPayload) })
      if (added.length > 0) await api.call('addVideoMetadata', { path, payload: added.map(toPayload) })
    },
    async onSuccess() {
      const entries = await readStored()
      setBase(entries)
      setRows(toRows(entries))
      notifySuccess(t('common.saved'))
    },
    // A part of the changes may be stored. After a conflict, the next attempt overwrites.
    async onError() {
      const stored = await readStored()
      setRows((before) => mergeRows(before, base, stored))
      setBase(stored)
      setNextId((id) => id + stored.length)
    },
  })
  const change = (rowId: number, changes: Partial<MetadataEntry>) =>
    setRows((before) => before.map((row) => (row.rowId === rowId ? { ...row, ...changes } : row)))
  const add = () => {
    setRows((before) => [...before, { rowId: nextId, isNew: true, name: '', value: '', private: false, read_only: false }])
    setNextId(nextId + 1)
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate()
  }
  return (
    <Stack component="section" gap="sm" mt="xl">
      <Title order={2} size="h4">
        {t('metadata.title')}
      </Title>
      <Text size="sm" c="dimmed">
        {t('metadata.text')}
      </Text>
      <ErrorAlert error={save.error} />
      <form onSubmit={submit}>
        <Stack gap="xs">
          {rows.map((row, index) => {
            const isFixed = row.read_only && !isSystem
            const isRepeated = rows.findIndex(({ name }) => name === row.name) < index
            return (
              <Group key={row.rowId} wrap="nowrap" align="flex-start" gap="xs">
                <TextInput
                  flex={1}
                  miw={0}
                  aria-label={t('metadata.name', { number: index + 1 })}
                  placeholder="genre"
                  required
                  maxLength={100}
                  pattern="[a-z_]+"
                  title={t('metadata.nameHelp')}
                  readOnly={!row.isNew}
                  value={row.name}
                  error={isRepeated && row.name !== '' ? t('metadata.repeated') : undefined}
                  onChange={(event) => change(row.rowId, { name: event.currentTarget.value })}
                />
                <TextInput
                  flex={2}
                  miw={0}
                  aria-label={t('metadata.value', { number: index + 1 })}
                  maxLength={1_000}
                  readOnly={isFixed}
                  value={row.value}
                  onChange={(event) => change(row.rowId, { value: event.currentTarget.value })}
                />
                <Switch
                  mt={8}
                  label={t('metadata.private')}
                  aria-label={`${t('metadata.private')}: ${row.name}`}
                  disabled={isFixed}
                  checked={row.private}
                  onChange={(event) => change(row.rowId, { private: event.currentTarget.checked })}
                />
                <ActionIcon
                  variant="default"
                  size="lg"
                  disabled={isFixed}
                  aria-label={t('metadata.remove', { number: index + 1 })}
                  onClick={() => setRows((before) => before.filter(({ rowId }) => rowId !== row.rowId))}
                >
                  <IconX size={16} />
                </ActionIcon>
              </Group>
            )
          })}
          <Group mt="xs">
            <Button
              variant="default"
              leftSection={<IconPlus size={16} aria-hidden="true" />}
              disabled={rows.length >= MAX_ENTRIES}
              onClick={add}
            >
              {t('metadata.add')}
            </Button>
            {isChanged && (
              <Button type="submit" loading={save.isPending} disabled={new Set(rows.map(({ name }) => name)).size < rows.length}>
                {t('metadata.save')}
              </Button>
            )}
          </Group>
        </Stack>
      </form>
    </Stack>
  )
}

/** Returns the rows after the stored entries have changed since `base`. New rows have ids after those of the others. */
function mergeRows(rows: readonly Row[], base: readonly MetadataEntry[], stored: readonly MetadataEntry[]): readonly Row[] {
  const { kept, added } = mergeEntries(rows, { base, stored })
  const firstId = Math.max(MAX_ENTRIES, ...rows.map(({ rowId }) => rowId + 1))
  return [...kept, ...added.map((entry, index) => ({ ...entry, rowId: firstId + index, isNew: false }))]
}

function toRows(entries: readonly MetadataEntry[]): readonly Row[] {
  return entries.map((entry, rowId) => ({ ...entry, rowId, isNew: false }))
}
