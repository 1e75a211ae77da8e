import { Anchor, Button, FileInput, Group, Paper, Stack, Text, TextInput } from '@mantine/core'
import { IconMessage2, IconPlus } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { Schemas } from '@vitascope/sdk'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { fieldMessage } from '../api/client.ts'
import { useSession } from '../api/session.tsx'
import { ConfirmButton } from '../layout/confirm-button.tsx'
import { decodeText } from '../layout/decode-text.ts'
import { FormButtons } from '../layout/form-buttons.tsx'
import { notifyError, notifySuccess } from '../layout/notify.ts'
import { EmptyState } from '../layout/query-state.tsx'
import { UnsavedScope, useReplacedForms, useUnsavedChanges } from '../layout/unsaved-changes.tsx'
import { CaptionEditor } from './caption-editor.tsx'

type CaptionFormat = 'srt' | 'sbv' | 'sub' | 'vtt'
const FORMATS: readonly CaptionFormat[] = ['vtt', 'srt', 'sbv', 'sub']
/** Formats of downloads in the API, and their names. */
const DOWNLOADS = [
  ['vtt', 'WebVTT'],
  ['xml', 'TTML'],
  ['txt', 'TXT'],
] as const

/** Captions of a video: upload, edit, download and delete. */
export function CaptionsTab({ video }: { video: Schemas['Video'] }) {
  const { t } = useTranslation()
  const [isAdding, setAdding] = useState(false)
  const [editedId, setEditedId] = useState<string>()
  const { onChange, mayReplace } = useReplacedForms()
  const { data: captions } = video.captions
  const edited = captions.find(({ caption_id }) => caption_id === editedId)
  if (edited) return <CaptionEditor captionId={edited.caption_id} title={edited.title} close={() => setEditedId(undefined)} />
  const edit = (id: string) => {
    if (mayReplace()) setEditedId(id)
  }
  return (
    <UnsavedScope onChange={onChange}>
      <Stack>
        {captions.length === 0 && !isAdding && <EmptyState icon={<IconMessage2 size={28} />} title={t('video.noCaptions')} />}
        <Stack gap="xs" component="ul" className="plain-list">
          {captions.map((caption) => (
            <CaptionRow key={caption.caption_id} caption={caption} videoId={video.video_id} edit={() => edit(caption.caption_id)} />
          ))}
        </Stack>
        {isAdding ? (
          <AddCaptions video={video} close={() => setAdding(false)} />
        ) : (
          <Group>
            <Button variant="default" leftSection={<IconPlus size={16} aria-hidden="true" />} onClick={() => setAdding(true)}>
              {t('video.captionAdd')}
            </Button>
          </Group>
        )}
      </Stack>
    </UnsavedScope>
  )
}

type Caption = Schemas['Video']['captions']['data'][number]

function CaptionRow({ caption, videoId, edit }: { caption: Caption; videoId: string; edit: () => void }) {
  const { t } = useTranslation()
  const { api } = useSession()
  const queryClient = useQueryClient()
  const { caption_id, title, language } = caption
  const remove = async () => {
    await api.call('deleteCaption', { path: { id_or_caption_id: caption_id } })
    await queryClient.invalidateQueries({ queryKey: ['video', videoId] })
  }
  return (
    <Paper withBorder p="sm" component="li">
      <Group justify="space-between">
        <div>
          <Text fw={600}>{title}</Text>
          <Text size="xs" c="dimmed">
            {language}
          </Text>
        </div>
        <Group gap="xs">
          {DOWNLOADS.map(([format, name]) => (
            <Anchor key={format} size="sm" href={`/v2/caption/${caption_id}.${format}`} download={`${title}.${format}`}>
              {t('video.captionDownload', { format: name })}
            </Anchor>
          ))}
          <Button size="xs" variant="default" onClick={edit}>
            {t('video.captionEdit')}
          </Button>
          <ConfirmButton
            size="xs"
            title={t('video.captionDelete', { title })}
            text={t('video.captionDeleteText')}
            confirm={t('common.delete')}
            onConfirm={remove}
          >
            {t('common.delete')}
          </ConfirmButton>
        </Group>
      </Group>
    </Paper>
  )
}

function AddCaptions({ video, close }: { video: Schemas['Video']; close: () => void }) {
  const { t } = useTranslation()
  const { api } = useSession()
  const queryClient = useQueryClient()
  const [title, setTitle] = useState('')
  const [language, setLanguage] = useState('')
  const [file, setFile] = useState<File | null>(null)
  useUnsavedChanges(title !== '' || language !== '' || file !== null)
  const add = useMutation({
    mutationFn: async (source: File) => {
      const format = FORMATS.find((name) => source.name.toLowerCase().endsWith(`.${name}`)) ?? 'vtt'
      await api.call('createCaptions', {
        payload: { media_id: video.media_id, title, language, format, content: decodeText(await source.arrayBuffer()) },
      })
    },
    async onSuccess() {
      await queryClient.invalidateQueries({ queryKey: ['video', video.video_id] })
      notifySuccess(t('common.saved'))
      close()
    },
    onError: notifyError,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (file) add.mutate(file)
  }
  return (
    <Paper withBorder p="md">
      <form onSubmit={submit}>
        <Stack>
          <Group grow align="flex-start">
            <TextInput
              label={t('video.captionTitle')}
              placeholder="English"
              required
              value={title}
              error={fieldMessage(add.error, 'title')}
              onChange={(event) => setTitle(event.currentTarget.value)}
            />
            <TextInput
              label={t('video.captionLanguage')}
              description={t('video.languageHelp')}
              required
              value={language}
              error={fieldMessage(add.error, 'language')}
              onChange={(event) => setLanguage(event.currentTarget.value)}
            />
          </Group>
          <FileInput
            label={t('video.captionFile')}
            accept=".vtt,.srt,.sbv,.sub"
            required
            clearable
            clearButtonProps={{ 'aria-label': t('common.delete') }}
            value={file}
            error={fieldMessage(add.error, 'content')}
            onChange={setFile}
          />
          <FormButtons submitLabel={t('video.captionAdd')} isPending={add.isPending} close={close} />
        </Stack>
      </form>
    </Paper>
  )
}
