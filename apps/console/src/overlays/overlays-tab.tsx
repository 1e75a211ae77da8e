import { Button, Card, Group, Stack, Text } from '@mantine/core'
import { IconMessage2Plus, IconPlus } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import type { Schemas } from '@vitascope/sdk'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useSession } from '../api/session.tsx'
import { ConfirmButton } from '../layout/confirm-button.tsx'
import { notifySuccess } from '../layout/notify.ts'
import { EmptyState } from '../layout/query-state.tsx'
import { UnsavedScope, useReplacedForms } from '../layout/unsaved-changes.tsx'
import { addEnglish } from '../translation/add-english.ts'
import { overlayTexts } from '../translation/english/overlays.ts'
import { OverlayEditor } from './overlay-editor.tsx'
import { NEW_OVERLAY, toOverlayForm } from './overlay-fields.ts'

addEnglish(overlayTexts)

/** Texts, pictures and links that the player shows over a video. */
export function OverlaysTab({ video }: { video: Schemas['Video'] }) {
  const { t } = useTranslation()
  const { api } = useSession()
  const queryClient = useQueryClient()
  /** Id of the overlay that is edited, or `new`. */
  const [edited, setEdited] = useState<string>()
  const reload = () => queryClient.invalidateQueries({ queryKey: ['video', video.video_id] })
  const close = () => setEdited(undefined)
  const { onChange, mayReplace } = useReplacedForms()
  const edit = (id: string) => {
    if (mayReplace()) setEdited(id)
  }
  const remove = async (id: string) => {
    await api.call('deleteOverlay', { path: { id } })
    notifySuccess(t('overlays.deleted'))
    await reload()
  }
  const { overlays } = video
  return (
    <UnsavedScope onChange={onChange}>
      <Stack>
        {overlays.length === 0 && edited === undefined && (
          <EmptyState icon={<IconMessage2Plus size={28} />} title={t('overlays.none')} text={t('overlays.noneText')} />
        )}
        {overlays.map((overlay) =>
          edited === overlay.overlay_id ? (
            <OverlayEditor
              key={overlay.overlay_id}
              video={video}
              initial={toOverlayForm(overlay)}
              save={(payload) => api.call('updateOverlay', { path: { id: overlay.overlay_id }, payload })}
              readStored={async () => toOverlayForm(await api.call('getOverlay', { path: { id: overlay.overlay_id } }))}
              close={close}
            />
          ) : (
            <Card key={overlay.overlay_id} withBorder padding="sm">
              <Group justify="space-between" wrap="nowrap" align="flex-start">
                <div className="page-title">
                  <Text fw={600}>{overlay.title}</Text>
                  <Text size="sm" c="dimmed">
                    {describeTimes(overlay, t('overlays.atEnd'), t('overlays.always'))}
                  </Text>
                  {overlay.link_url !== '' && <Text size="sm">{overlay.link_url}</Text>}
                </div>
                <Group gap="xs" wrap="nowrap">
                  <Button size="xs" variant="default" onClick={() => edit(overlay.overlay_id)}>
                    {t('video.captionEdit')}
                  </Button>
                  <ConfirmButton
                    size="xs"
                    title={t('overlays.deleteTitle', { title: overlay.title })}
                    text={t('overlays.deleteText')}
                    confirm={t('common.delete')}
                    onConfirm={() => remove(overlay.overlay_id)}
                  >
                    {t('common.delete')}
                  </ConfirmButton>
                </Group>
              </Group>
            </Card>
          ),
        )}
        {edited === 'new' ? (
          <OverlayEditor
            video={video}
            initial={NEW_OVERLAY}
            save={(payload) =>
              api.call('createOverlay', { payload: { ...payload, title: payload.title ?? '', associated_with_media_id: video.media_id } })
            }
            close={close}
          />
        ) : (
          <Group>
            <Button variant="default" leftSection={<IconPlus size={16} aria-hidden="true" />} onClick={() => edit('new')}>
              {t('overlays.add')}
            </Button>
          </Group>
        )}
      </Stack>
    </UnsavedScope>
  )
}

function describeTimes({ show }: Schemas['VideoOverlay'], atEnd: string, always: string): string {
  const { start, end } = show.during
  const parts = [...(start === '' ? [] : [`${start} – ${end}`]), ...(show.at_end === '1' ? [atEnd] : [])]
  return parts.join(', ') || always
}
