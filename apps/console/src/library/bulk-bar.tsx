import { Button, Group, Menu, Paper, Stack, TagsInput, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQueryClient } from '@tanstack/react-query'
import type { Schemas } from '@vitascope/sdk'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { toMessage } from '../api/client.ts'
import { deleteVideo, listDeletions } from '../api/delete-video.ts'
import { useSession } from '../api/session.tsx'
import { ConfirmButton } from '../layout/confirm-button.tsx'
import { FormDialog } from '../layout/form-dialog.tsx'
import { joinWords } from '../layout/form-values.ts'
import { notifyError, notifySuccess } from '../layout/notify.ts'
import { FolderDialog } from './folder-dialog.tsx'

const VISIBILITIES = ['public', 'unlisted', 'private'] as const
/** Changes are sent in parallel, this many at a time. */
const AT_ONCE = 4

interface Props {
  videos: readonly Schemas['Video'][]
  /** Id of the folder whose videos are shown. */
  folder: string | undefined
  select: (ids: ReadonlySet<string>) => void
}

/**
 * Changes the selected videos. A video that cannot be changed does not prevent the changes of the others, and stays
 * selected.
 */
export function BulkBar({ videos, folder, select }: Props) {
  const { t } = useTranslation()
  const session = useSession()
  const { api } = session
  const queryClient = useQueryClient()
  const [isTagging, { open, close }] = useDisclosure(false)
  const [isFiling, { open: openFolders, close: closeFolders }] = useDisclosure(false)
  const [tags, setTags] = useState<string[]>([])
  const [isRunning, setRunning] = useState(false)
  const clear = () => select(new Set())

  const changeAll = async (changed: readonly Schemas['Video'][], change: (video: Schemas['Video']) => Promise<unknown>) => {
    setRunning(true)
    const failures = new Map<string, unknown>()
    const waiting = [...changed]
    const worker = async () => {
      for (let video = waiting.shift(); video; video = waiting.shift()) {
        const { video_id } = video
        await change(video).catch((error: unknown) => failures.set(video_id, error))
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, worker))
    await Promise.all([['videos'], ['video'], ['tags']].map((queryKey) => queryClient.invalidateQueries({ queryKey })))
    const count = changed.length - failures.size
    const [reason] = failures.values()
    if (count > 0) notifySuccess(t('library.changed', { count }))
    if (failures.size > 0) notifyError(new Error(t('library.failedSome', { count: failures.size, reason: toMessage(reason) })))
    setRunning(false)
    select(new Set(failures.keys()))
  }
  return (
    <Paper withBorder p="xs" mb="md" className="bulk-bar" role="region" aria-label={t('library.selected', { count: videos.length })}>
      <Group gap="sm">
        <Text size="sm" fw={600} px="xs">
          {t('library.selected', { count: videos.length })}
        </Text>
        <Menu>
          <Menu.Target>
            <Button variant="default" size="xs" loading={isRunning}>
              {t('library.setVisibility')}
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            {VISIBILITIES.map((visibility) => (
              <Menu.Item
                key={visibility}
                onClick={() =>
                  void changeAll(videos, ({ video_id }) => api.call('updateVideo', { path: { video_id }, payload: { visibility } }))
                }
              >
                {t(`visibility.${visibility}`)}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
        <Button variant="default" size="xs" disabled={isRunning} onClick={open}>
          {t('library.addTags')}
        </Button>
        <Button variant="default" size="xs" disabled={isRunning} onClick={openFolders}>
          {t('library.addToFolder')}
        </Button>
        {folder !== undefined && (
          <Button
            variant="default"
            size="xs"
            disabled={isRunning}
            onClick={() =>
              void changeAll(videos, ({ video_id }) => api.call('removeVideoFromFolder', { path: { folder_id: folder, video_id } }))
            }
          >
            {t('library.removeFromFolder')}
          </Button>
        )}
        <ConfirmButton
          size="xs"
          disabled={isRunning}
          title={t('library.deleteMany')}
          text={t('library.deleteText')}
          confirm={t('common.delete')}
          onConfirm={() => changeAll(listDeletions(session, videos), (video) => deleteVideo(session, video))}
        >
          {t('common.delete')}
        </ConfirmButton>
        <Button variant="subtle" size="xs" disabled={isRunning} onClick={clear}>
          {t('common.cancel')}
        </Button>
      </Group>
      {isTagging && (
        <FormDialog title={t('library.addTags')} isChanged={tags.length > 0} close={close}>
          <Stack>
            <TagsInput
              label={t('video.tags')}
              description={t('library.tagsHelp')}
              value={tags}
              onChange={(input) => setTags(input.map(joinWords))}
              data-autofocus
            />
            <Button
              onClick={() => {
                if (tags.length === 0) return
                close()
                void changeAll(videos, ({ video_id }) => api.call('addVideoTagsWithoutTags', { path: { video_id }, payload: { tags } }))
              }}
            >
              {t('library.addTags')}
            </Button>
          </Stack>
        </FormDialog>
      )}
      {isFiling && (
        <FolderDialog
          close={closeFolders}
          onFolder={(folder_id) =>
            void changeAll(videos, ({ video_id }) => api.call('addVideoToFolder', { path: { folder_id, video_id } }))
          }
        />
      )}
    </Paper>
  )
}
