import { ActionIcon, Button, Group, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { IconPlus, IconX } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { useSession } from '../api/session.tsx'
import { notifyError, notifySuccess } from '../layout/notify.ts'
import { QueryState } from '../layout/query-state.tsx'
import { useMergedForm } from '../layout/use-merged-form.tsx'
import { addEnglish } from '../translation/add-english.ts'
import { chapterTexts } from '../translation/english/chapters.ts'
import { type Cue, formatVtt, hasValidTimes, nextCue, parseVtt, toCueTime } from './web-vtt.ts'

addEnglish(chapterTexts)

/** Lines of captions next to the player. */
export function CaptionEditor({ captionId, title, close }: { captionId: string; title: string; close: () => void }) {
  const { t } = useTranslation()
  const { api } = useSession()
  const readStored = async (signal?: AbortSignal) =>
    parseVtt(String(await api.call('getCaption', { path: { id: captionId, format: 'vtt' }, signal })))
  const lines = useQuery({
    queryKey: ['caption', captionId],
    // The form keeps what was typed.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    queryFn: ({ signal }) => readStored(signal),
  })
  const save = async (cues: readonly Cue[]) => {
    await api.call('updateCaption', { path: { id_or_caption_id: captionId }, payload: { format: 'vtt', content: formatVtt(cues) } })
    notifySuccess(t('common.saved'))
    close()
  }
  return (
    <Stack>
      <Text fw={600}>
        {title} · {t('video.captionLines')}
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
  const change = (index: number, changes: Partial<Cue>) => setCues(cues.with(index, { ...(cues[index] as Cue), ...changes }))
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
          <CueRow
            key={index}
            number={index + 1}
            cue={cue}
            change={(changes) => change(index, changes)}
            insert={() => setCues(cues.toSpliced(index + 1, 0, nextCue(cue, cues[index + 1])))}
            // A file without lines is rejected.
            remove={cues.length === 1 ? undefined : () => setCues(cues.toSpliced(index, 1))}
          />
        ))}
      </Stack>
      <Group>
        <Button
          loading={saving.isPending}
          disabled={!isChanged || !cues.every((cue) => hasValidTimes(cue) && cue.text.trim() !== '')}
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

interface CueRowProps {
  number: number
  cue: Cue
  change: (changes: Partial<Cue>) => void
  /** Adds a line below this one. */
  insert: () => void
  remove: (() => void) | undefined
}

function CueRow({ number, cue, change, insert, remove }: CueRowProps) {
  const { t } = useTranslation()
  const findFault = (time: string) => (toCueTime(time) === undefined ? t('chapters.startHelp') : undefined)
  const findEndFault = () => findFault(cue.end) ?? (findFault(cue.start) || hasValidTimes(cue) ? undefined : t('video.captionEndHelp'))
  return (
    <Group wrap="nowrap" align="flex-start" gap="xs">
      <Stack gap={4} w={120}>
        <TextInput
          size="xs"
          aria-label={`${t('video.captionStart')} ${number}`}
          value={cue.start}
          error={findFault(cue.start)}
          onChange={(event) => change({ start: event.currentTarget.value })}
        />
        <TextInput
          size="xs"
          aria-label={`${t('video.captionEnd')} ${number}`}
          value={cue.end}
          error={findEndFault()}
          onChange={(event) => change({ end: event.currentTarget.value })}
        />
      </Stack>
      <Textarea
        size="sm"
        flex={1}
        autosize
        minRows={2}
        aria-label={t('video.captionText', { number })}
        error={cue.text.trim() === '' && t('video.captionEmpty')}
        value={cue.text}
        onChange={(event) => change({ text: event.currentTarget.value })}
      />
      <Stack gap={4}>
        <ActionIcon variant="default" aria-label={t('video.captionInsert', { number })} onClick={insert}>
          <IconPlus size={16} />
        </ActionIcon>
        <ActionIcon variant="default" aria-label={t('video.captionRemove', { number })} disabled={!remove} onClick={remove}>
          <IconX size={16} />
        </ActionIcon>
      </Stack>
    </Group>
  )
}
