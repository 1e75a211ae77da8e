import { Button, Group, Select, Stack, TagsInput, Text, Textarea, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useBlocker, useNavigate } from '@tanstack/react-router'
import type { Schemas } from '@vitascope/sdk'
import { type FormEvent, useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { fieldMessage, isConflict } from '../api/client.ts'
import { deleteVideo } from '../api/delete-video.ts'
import { useSession } from '../api/session.tsx'
import { ConfirmButton } from '../layout/confirm-button.tsx'
import { ConflictAlert } from '../layout/conflict-alert.tsx'
import { bindTexts } from '../layout/form-values.ts'
import { notifyError, notifySuccess } from '../layout/notify.ts'
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

const VISIBILITIES = ['public', 'unlisted', 'private'] as const
type Visibility = (typeof VISIBILITIES)[number]
type Field = keyof Details
const FIELDS = ['video_title', 'description', 'description_private', 'tags', 'language', 'category', 'visibility'] as const
const LABELS = {
  ...({ video_title: 'video.title', description: 'video.description', description_private: 'video.notes', tags: 'video.tags' } as const),
  ...({ language: 'video.language', category: 'video.category', visibility: 'video.visibility' } as const),
} satisfies Record<Field, string>

/**
 * Form for the texts of a video. It keeps what was typed when the record is read again, when the session ends and when
 * a change is rejected. If another person has changed the video, the user decides which version to keep.
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
  const [form, setForm] = useState(() => toDetails(loaded.video))
  const changed = listDifferences(form, toDetails(base.video))
  useEffect(() => {
    if (changed.length > 0) return
    setBase(loaded)
    setForm(toDetails(loaded.video))
  }, [loaded, changed.length])
  useBlocker({
    shouldBlockFn: () => changed.length > 0 && !confirm(t('common.unsaved')),
    enableBeforeUnload: () => changed.length > 0,
  })
  const save = useMutation({
    mutationFn: ({ etag, sent }: { etag: string | undefined; sent: Details }) =>
      api.call('updateVideo', { path: { video_id: videoId }, payload: pickFields(sent, changed), ifMatch: etag }),
    async onSuccess(_, { sent }) {
      const fresh = await queryClient.fetchQuery<LoadedVideo>({ queryKey: ['video', videoId], staleTime: 0 })
      setBase(fresh)
      // Text that was typed during the request is kept.
      setForm((typed) => ({ ...toDetails(fresh.video), ...pickFields(typed, listDifferences(typed, sent)) }))
      void queryClient.invalidateQueries({ queryKey: ['videos'] })
      notifySuccess(t('common.saved'))
    },
    async onError(error) {
      if (isConflict(error)) await queryClient.invalidateQueries({ queryKey: ['video', videoId] })
      else notifyError(error)
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate({ etag: base.etag, sent: form })
  }
  const remove = async () => {
    await deleteVideo(session, base.video)
    queryClient.removeQueries({ queryKey: ['video', videoId] })
    await queryClient.invalidateQueries({ queryKey: ['videos'] })
    setForm(toDetails(base.video))
    await navigate({ to: '/videos', ignoreBlocker: true })
  }
  const bind = bindTexts(form, setForm, save.error)
  const text = (field: Exclude<Field, 'tags' | 'visibility'>) => ({ ...bind(field), label: t(LABELS[field]) })
  return (
    <form onSubmit={submit}>
      <Stack>
        {isConflict(save.error) && (
          <ConflictAlert
            title={t('video.conflict')}
            text={t('video.conflictText', {
              fields: listConflicts(form, base, loaded)
                .map((field) => t(LABELS[field]))
                .join(', '),
            })}
            isPending={save.isPending}
            keepMine={() => save.mutate({ etag: loaded.etag, sent: form })}
            loadTheirs={() => {
              setBase(loaded)
              setForm(toDetails(loaded.video))
              save.reset()
            }}
          />
        )}
        <TextInput {...text('video_title')} maxLength={255} />
        <Textarea {...text('description')} description={t('video.descriptionHelp')} autosize minRows={3} maxRows={12} />
        <TagsInput
          label={t('video.tags')}
          description={t('video.tagsHelp')}
          value={form.tags}
          error={fieldMessage(save.error, 'tags')}
          onChange={(tags) => setForm((before) => ({ ...before, tags: tags.map((tag) => tag.trim().replaceAll(/\s+/g, '-')) }))}
        />
        <Group grow align="flex-start">
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
        </Group>
        <Text size="xs" c="dimmed" mt={-8}>
          {t('video.visibilityHelp')}
        </Text>
        <Textarea {...text('description_private')} description={t('video.notesHelp')} autosize minRows={2} maxRows={8} />
        <Group justify="space-between">
          <Group gap="xs">
            <Button type="submit" disabled={changed.length === 0} loading={save.isPending}>
              {t('common.save')}
            </Button>
            {changed.length > 0 && (
              <Button variant="subtle" onClick={() => setForm(toDetails(base.video))}>
                {t('common.discard')}
              </Button>
            )}
          </Group>
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

function toDetails(video: Schemas['Video']): Details {
  const { video_title, description, description_private = '', tags, language, category } = video
  const visibility = VISIBILITIES.find((name) => name === video.visibility) ?? 'public'
  return { ...{ video_title, description, description_private, tags: tags ?? [] }, ...{ language, category, visibility } }
}

function isSame(a: Details, b: Details, field: Field): boolean {
  return JSON.stringify(a[field]) === JSON.stringify(b[field])
}

function listDifferences(a: Details, b: Details): Field[] {
  return FIELDS.filter((field) => !isSame(a, b, field))
}

/** Returns the fields that another person has changed, or that differ from the version of that person. */
function listConflicts(form: Details, base: LoadedVideo, loaded: LoadedVideo): Field[] {
  const [mine, theirs] = [listDifferences(form, toDetails(loaded.video)), listDifferences(toDetails(base.video), toDetails(loaded.video))]
  return FIELDS.filter((field) => mine.includes(field) || theirs.includes(field))
}

function pickFields(form: Details, fields: readonly Field[]): Partial<Details> {
  return Object.fromEntries(fields.map((field) => [field, form[field]]))
}
