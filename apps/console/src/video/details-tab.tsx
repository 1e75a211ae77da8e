import { Group, Select, SimpleGrid, Stack, TagsInput, Text, Textarea, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { fieldMessage, isConflict, isMissing } from '../api/client.ts'
import { deleteVideo } from '../api/delete-video.ts'
import { useSession } from '../api/session.tsx'
import { ConfirmButton } from '../layout/confirm-button.tsx'
import { ConflictAlert } from '../layout/conflict-alert.tsx'
import { SaveButtons } from '../layout/form-buttons.tsx'
import { bindTexts, joinWords } from '../layout/form-values.ts'
import { listChanges, listConflicts, mergeChanges } from '../layout/merge-changes.ts'
import { notifyError, notifySuccess } from '../layout/notify.ts'
import { useUnsavedChanges } from '../layout/unsaved-changes.tsx'
import type { LoadedVideo } from './use-video.ts'

/** Fields of the form, as they are sent. */
interface Details {
  video_title: string
  description: string
  description_private: string
  tags: string[]
  language: string
  category: string
  visibility: Visibility
}

/** Maximum number of characters of the description and the notes. */
const MAX_TEXT = 5_000
const VISIBILITIES = ['public', 'unlisted', 'private'] as const
type Visibility = (typeof VISIBILITIES)[number]
type Field = keyof Details
const LABELS = {
  ...({ video_title: 'video.title', description: 'video.description', description_private: 'video.notes', tags: 'video.tags' } as const),
  ...({ language: 'video.language', category: 'video.category', visibility: 'video.visibility' } as const),
} satisfies Record<Field, string>

/**
 * Form for the texts of a video. It keeps what was typed when the record is read again, when the session ends and when
 * a change is rejected. Fields that only another person has changed are updated. If both have changed the same field,
 * the user decides which version to keep.
 */
export function DetailsTab({ loaded }: { loaded: LoadedVideo }) {
  const { t } = useTranslation()
  const session = useSession()
  const { api } = session
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const videoId = loaded.video.video_id
  /** The record on which the form is based. */
  const [base, setBase] = useState(loaded)
  const [form, setForm] = useState(() => toDetails(loaded))
  const changed = listChanges(form, toDetails(base))
  const conflicts = listConflicts(form, toDetails(base), toDetails(loaded))
  useUnsavedChanges(changed.length > 0)
  useEffect(() => {
    if (loaded === base || conflicts.length > 0) return
    setBase(loaded)
    setForm((typed) => mergeChanges(typed, toDetails(base), toDetails(loaded)))
  }, [loaded, base, conflicts.length])
  const readVideo = () => queryClient.fetchQuery<LoadedVideo>({ queryKey: ['video', videoId], staleTime: 0 })
  const save = useMutation({
    async mutationFn({ from, sent }: { from: LoadedVideo; sent: Details }) {
      const payload = pickFields(sent, changed)
      for (let { etag } = from; ; ) {
        try {
          return await api.call('updateVideo', { path: { video_id: videoId }, payload, ifMatch: etag })
        } catch (error) {
          if (!isConflict(error)) throw error
          const fresh = await readVideo()
          if (fresh.etag === etag || listConflicts(sent, toDetails(from), toDetails(fresh)).length > 0) throw error
          etag = fresh.etag
        }
      }
    },
    async onSuccess(_, { sent }) {
      const fresh = await readVideo()
      setBase(fresh)
      // Text that was typed during the request is kept.
      setForm((typed) => mergeChanges(typed, sent, toDetails(fresh)))
      void queryClient.invalidateQueries({ queryKey: ['videos'] })
      notifySuccess(t('common.saved'))
    },
    onError(error) {
      if (!isConflict(error)) notifyError(error)
      // The page shows that the video was deleted.
      if (isMissing(error)) void queryClient.invalidateQueries({ queryKey: ['video', videoId] })
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate({ from: base, sent: form })
  }
  const remove = async () => {
    await deleteVideo(session, base.video)
    queryClient.removeQueries({ queryKey: ['video', videoId] })
    await queryClient.invalidateQueries({ queryKey: ['videos'] })
    setForm(toDetails(base))
    await navigate({ to: '/videos', ignoreBlocker: true })
  }
  const describe = (field: Field, details: Details) => {
    if (field === 'tags') return details.tags.join(', ')
    return field === 'visibility' ? t(`visibility.${details.visibility}`) : details[field]
  }
  const bind = bindTexts(form, setForm, save.error)
  const text = (field: Exclude<Field, 'tags' | 'visibility'>) => ({ ...bind(field), label: t(LABELS[field]) })
  const longText = (field: 'description' | 'description_private', help: string) => {
    const count = form[field].length
    return {
      ...text(field),
      description: count > 0.8 * MAX_TEXT ? `${help} ${t('video.characters', { count, max: MAX_TEXT })}` : help,
      ...(count > MAX_TEXT && { error: t('video.tooLong', { max: MAX_TEXT }) }),
    }
  }
  return (
    <form onSubmit={submit}>
      <Stack>
        {isConflict(save.error) && conflicts.length > 0 && (
          <ConflictAlert
            title={t('video.conflict')}
            text={t('video.conflictText', {
              fields: conflicts.map((field) => t(LABELS[field])).join(', '),
            })}
            theirs={conflicts.map((field) => ({ label: t(LABELS[field]), value: describe(field, toDetails(loaded)) }))}
            isPending={save.isPending}
            keepMine={() => save.mutate({ from: loaded, sent: form })}
            loadTheirs={() => {
              setBase(loaded)
              setForm((typed) => ({ ...typed, ...pickFields(toDetails(loaded), conflicts) }))
              save.reset()
            }}
          />
        )}
        <TextInput {...text('video_title')} maxLength={255} />
        <Textarea {...longText('description', t('video.descriptionHelp'))} autosize minRows={3} maxRows={12} />
        <TagsInput
          label={t('video.tags')}
          description={t('video.tagsHelp')}
          value={form.tags}
          error={fieldMessage(save.error, 'tags')}
          onChange={(tags) => setForm((before) => ({ ...before, tags: tags.map(joinWords) }))}
        />
        <SimpleGrid cols={{ base: 1, xs: 3 }}>
          <Select
            label={t('video.visibility')}
            data={VISIBILITIES.map((value) => ({ value, label: t(`visibility.${value}`) }))}
            value={form.visibility}
            allowDeselect={false}
            error={fieldMessage(save.error, 'visibility')}
            onChange={(value) =>
              setForm((before) => ({ ...before, visibility: VISIBILITIES.find((name) => name === value) ?? before.visibility }))
            }
          />
          <TextInput {...text('language')} placeholder="en" />
          <TextInput {...text('category')} />
        </SimpleGrid>
        <Text size="xs" c="dimmed" mt={-8}>
          {t('video.visibilityHelp')}
        </Text>
        <Textarea {...longText('description_private', t('video.notesHelp'))} autosize minRows={2} maxRows={8} />
        <Group justify="space-between">
          <SaveButtons isChanged={changed.length > 0} isPending={save.isPending} discard={() => setForm(toDetails(base))} />
          <ConfirmButton
            title={t('video.deleteTitle', { title: base.video.video_title })}
            text={t('library.deleteText')}
            confirm={t('common.delete')}
            onConfirm={remove}
          >
            {t('common.delete')}
          </ConfirmButton>
        </Group>
      </Stack>
    </form>
  )
}

function toDetails({ video }: LoadedVideo): Details {
  const { video_title, description, description_private = '', tags, language, category } = video
  const visibility = VISIBILITIES.find((name) => name === video.visibility) ?? 'public'
  return { ...{ video_title, description, description_private, tags: tags ?? [] }, ...{ language, category, visibility } }
}

function pickFields(form: Details, fields: readonly Field[]): Partial<Details> {
  return Object.fromEntries(fields.map((field) => [field, form[field]]))
}
