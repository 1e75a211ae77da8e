import { Anchor, Button, FileInput, Group, Paper, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { IconMessage2, IconPlus } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { Schemas } from '@vitascope/sdk'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { fieldMessage } from '../api/client.ts'
import { useSession } from '../api/session.tsx'
import { ConfirmButton } from '../layout/confirm-button.tsx'
import { FormButtons } from '../layout/form-buttons.tsx'
import { notifyError, notifySuccess } from '../layout/notify.ts'
import { EmptyState, QueryState } from '../layout/query-state.tsx'
import { UnsavedScope, useReplacedForms, useUnsavedChanges } from '../layout/unsaved-changes.tsx'
import { useMergedForm } from '../layout/use-merged-form.tsx'
import { type Cue, formatVtt, hasValidTimes, parseVtt, toCueTime } from './web-vtt.ts'

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
  if (edited) return <CaptionEditor caption={edited} close={() => setEditedId(undefined)} />
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
      await api.call('createCaptions', { payload: { media_id: video.media_id, title, language, format, content: await source.text() } })
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

/** Lines of captions next to the player. */
function CaptionEditor({ caption, close }: { caption: Caption; close: () => void }) {
  const { t } = useTranslation()
  const { api } = useSession()
  const path = { id_or_caption_id: caption.caption_id }
  const readStored = async (signal?: AbortSignal) =>
    parseVtt(String(await api.call('getCaption', { path: { id: caption.caption_id, format: 'vtt' }, signal })))
  const lines = useQuery({
    queryKey: ['caption', caption.caption_id],
    // The form keeps what was typed.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    queryFn: ({ signal }) => readStored(signal),
  })
  const save = async (cues: readonly Cue[]) => {
    await api.call('updateCaption', { path, payload: { format: 'vtt', content: formatVtt(cues) } })
    notifySuccess(t('common.saved'))
    close()
  }
  return (
    <Stack>
      <Text fw={600}>
        {caption.title} · {t('video.captionLines')}
      </Text>
      <QueryState query={lines}>{(cues) => <CueList initial={cues} {...{ save, readStored, close }} />}</QueryState>
    </Stack>
  )
}

interface CueListProps {
  initial: readonly Cue[]
  save: (cues: readonly Cue[]) => Promise<void>
  readStored: () => Promise<readonly Cue[]>
  close: () => void
}

/** Form for the lines. If another person has changed the same lines, the user decides which version to keep. */
function CueList({ initial, save, readStored, close }: CueListProps) {
  const { t } = useTranslation()
  const { form: cues, setForm: setCues, isChanged, merge, renderConflict } = useMergedForm(initial)
  const saving = useMutation({
    async mutationFn({ overwrites }: { overwrites: boolean }) {
      const merged = merge({ stored: await readStored(), overwrites })
      if (merged) await save(merged)
    },
    onError: notifyError,
  })
  const describeCue = (stored: readonly Cue[], index: number) => {
    const cue = stored[index]
    return { label: t('video.captionText', { number: index + 1 }), value: cue ? `${cue.start} – ${cue.end} ${cue.text}` : '' }
  }
  const findFault = (time: string) => (toCueTime(time) === undefined ? t('chapters.startHelp') : undefined)
  const findEndFault = (cue: Cue) =>
    findFault(cue.end) ?? (findFault(cue.start) || hasValidTimes(cue) ? undefined : t('video.captionEndHelp'))
  const change = (index: number, changes: Partial<Cue>) =>
    setCues((before) => before.map((cue, at) => (at === index ? { ...cue, ...changes } : cue)))
  return (
    <>
      {renderConflict({
        title: t('video.captionConflict'),
        describe: (index, theirs) => describeCue(theirs, Number(index)),
        isPending: saving.isPending,
        keepMine: () => saving.mutate({ overwrites: true }),
      })}
      <Stack gap="xs" className="caption-lines" tabIndex={0} role="group" aria-label={t('video.captionLines')}>
        {cues.map((cue, index) => (
          <Group key={index} wrap="nowrap" align="flex-start" gap="xs">
            <Stack gap={4} w={120}>
              <TextInput
                size="xs"
                aria-label={`${t('video.captionStart')} ${index + 1}`}
                value={cue.start}
                error={findFault(cue.start)}
                onChange={(event) => change(index, { start: event.currentTarget.value })}
              />
              <TextInput
                size="xs"
                aria-label={`${t('video.captionEnd')} ${index + 1}`}
                value={cue.end}
                error={findEndFault(cue)}
                onChange={(event) => change(index, { end: event.currentTarget.value })}
              />
            </Stack>
            <Textarea
              size="sm"
              flex={1}
              autosize
              minRows={2}
              aria-label={t('video.captionText', { number: index + 1 })}
              value={cue.text}
              onChange={(event) => change(index, { text: event.currentTarget.value })}
            />
          </Group>
        ))}
      </Stack>
      <Group>
        <Button
          loading={saving.isPending}
          disabled={!isChanged || !cues.every(hasValidTimes)}
          onClick={() => saving.mutate({ overwrites: false })}
        >
          {t('video.captionSave')}
        </Button>
        <Button variant="default" onClick={close}>
          {t('common.cancel')}
        </Button>
      </Group>
    </>
  )
}
