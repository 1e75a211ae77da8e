import { Button, SimpleGrid, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconPlaylist, IconPlus } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { fieldMessage } from '../api/client.ts'
import { MAX_RECORDS } from '../api/max-records.ts'
import { useSession } from '../api/session.tsx'
import { FormDialog } from '../layout/form-dialog.tsx'
import { notifyError } from '../layout/notify.ts'
import { PageHeader } from '../layout/page-header.tsx'
import { PagedList } from '../layout/paged-list.tsx'
import { EmptyState, QueryState } from '../layout/query-state.tsx'

/** Playlists of the organisation. */
export function PlaylistsPage() {
  const { t } = useTranslation()
  const { api, organisationId } = useSession()
  const [isAdding, { open, close }] = useDisclosure(false)
  const playlists = useQuery({
    queryKey: ['playlists', organisationId],
    queryFn: ({ signal }) => api.list('listPlaylists', { path: { organisation_id: organisationId }, signal }).toArray(MAX_RECORDS),
  })
  return (
    <>
      <PageHeader title={t('playlists.title')}>
        <Button leftSection={<IconPlus size={18} aria-hidden="true" />} onClick={open}>
          {t('playlists.add')}
        </Button>
      </PageHeader>
      {isAdding && <AddPlaylist close={close} />}
      <QueryState query={playlists}>
        {(list) =>
          list.length === 0 ? (
            <EmptyState icon={<IconPlaylist size={28} />} title={t('playlists.none')} />
          ) : (
            <PagedList rows={list} label={t('playlists.find')} textOf={({ title, description }) => `${title} ${description}`}>
              {(shown) => (
                <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} component="ul" className="plain-list">
                  {shown.map(({ playlist_id, title, description, video_count }) => (
                    <li key={playlist_id}>
                      <Link to="/playlists/$playlistId" params={{ playlistId: playlist_id }} className="tile">
                        <Text fw={600} className="page-title">
                          {title || t('library.untitled')}
                        </Text>
                        <Text size="sm" c="dimmed" lineClamp={2}>
                          {description}
                        </Text>
                        <Text size="xs" c="dimmed" mt={6}>
                          {t('playlists.videos', { count: video_count })}
                        </Text>
                      </Link>
                    </li>
                  ))}
                </SimpleGrid>
              )}
            </PagedList>
          )
        }
      </QueryState>
    </>
  )
}

function AddPlaylist({ close }: { close: () => void }) {
  const { t } = useTranslation()
  const { api, organisationId } = useSession()
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const [title, setTitle] = useState('')
  const [description, setDescription] = useState('')
  const add = useMutation({
    mutationFn: () => api.call('createPlaylist', { path: { organisation_id: organisationId }, payload: { title, description } }),
    async onSuccess({ playlist_id }) {
      await queryClient.invalidateQueries({ queryKey: ['playlists'] })
      await navigate({ to: '/playlists/$playlistId', params: { playlistId: playlist_id }, ignoreBlocker: true })
    },
    onError: notifyError,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    add.mutate()
  }
  return (
    <FormDialog title={t('playlists.add')} isChanged={title !== '' || description !== ''} close={close}>
      <form onSubmit={submit}>
        <Stack>
          <TextInput
            label={t('video.title')}
            required
            data-autofocus
            maxLength={255}
            value={title}
            error={fieldMessage(add.error, 'title')}
            onChange={(event) => setTitle(event.currentTarget.value)}
          />
          <Textarea
            label={t('video.description')}
            autosize
            minRows={2}
            maxLength={5_000}
            value={description}
            error={fieldMessage(add.error, 'description')}
            onChange={(event) => setDescription(event.currentTarget.value)}
          />
          <Button type="submit" loading={add.isPending}>
            {t('playlists.add')}
          </Button>
        </Stack>
      </form>
    </FormDialog>
  )
}
