import { Button, Divider, FileButton, Group, Stack, Text, Textarea } from '@mantine/core'
import { IconUpload } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { toMessage } from '../api/client.ts'
import { useSession } from '../api/session.tsx'
import { FormDialog } from '../layout/form-dialog.tsx'
import { lazyPart } from '../layout/lazy-part.tsx'
import { notifySuccess } from '../layout/notify.ts'
import { UploadQuota } from '../quota/upload-quota.tsx'
import { addEnglish } from '../translation/add-english.ts'
import { csvTexts } from '../translation/english/csv.ts'
import { addressTitle } from './source-title.ts'

addEnglish(csvTexts)

/** The parser of lists is loaded when the panel is opened. */
const CsvListPanel = lazyPart(() => import('./csv-list-panel.tsx').then(({ CsvListPanel }) => CsvListPanel))

/** Selects files, or addresses from which the platform fetches videos. */
export function UploadDialog({ close, onFiles }: { close: () => void; onFiles: (files: readonly File[]) => void }) {
  const { t } = useTranslation()
  const { api } = useSession()
  const queryClient = useQueryClient()
  const [addresses, setAddresses] = useState('')
  /** Why addresses failed. */
  const [reasons, setReasons] = useState<readonly string[]>([])
  const [isRunning, setRunning] = useState(false)
  const [hasList, setHasList] = useState(false)
  const [isListRunning, setListRunning] = useState(false)
  const isBusy = isRunning || isListRunning
  useEffect(() => {
    if (!isBusy) return
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [isBusy])
  const lines = addresses.split('\n').flatMap((line) => line.trim() || [])
  const fetchAll = async () => {
    setRunning(true)
    const failed: { url: string; reason: string }[] = []
    for (const url of lines) {
      try {
        const title = addressTitle(url)
        await api.videos.create({ url, ...(title !== undefined && { name: title }) })
      } catch (error) {
        failed.push({ url, reason: toMessage(error) })
      }
    }
    setRunning(false)
    // Addresses that failed stay, so that they can be corrected.
    setAddresses(failed.map(({ url }) => url).join('\n'))
    setReasons(failed.map(({ url, reason }) => `${url}: ${reason}`))
    if (failed.length < lines.length) notifySuccess(t('upload.fetching', { count: lines.length - failed.length }))
    if (failed.length === 0 && !hasList) close()
    await queryClient.invalidateQueries({ queryKey: ['videos'] })
  }
  const isChanged = lines.length > 0 || hasList
  // The results of addresses that are being sent would be lost.
  const end = () => {
    if (!isBusy) close()
  }
  return (
    <FormDialog title={t('upload.title')} isChanged={isChanged} close={end} size={hasList ? 'xl' : 'lg'}>
      <Stack>
        <FileButton
          multiple
          accept="video/*,audio/*,.mkv,.mxf,.ts,.m2ts"
          onChange={(files) => {
            onFiles(files)
            // Addresses and a list that were entered stay.
            if (!isChanged) end()
          }}
        >
          {(props) => (
            <button type="button" className="file-area" {...props} data-autofocus>
              <IconUpload size={30} stroke={1.4} aria-hidden="true" />
              <Text fw={600}>{t('upload.select')}</Text>
              <Text size="sm" c="dimmed">
                {t('upload.drop')}
              </Text>
            </button>
          )}
        </FileButton>
        <UploadQuota />
        <Divider label={t('upload.byUrl')} />
        <Textarea
          label={t('upload.urlLabel')}
          description={t('upload.urlHelp')}
          placeholder="https://www.example.org/launch.mp4"
          autosize
          minRows={2}
          maxRows={8}
          readOnly={isRunning}
          value={addresses}
          error={reasons.length > 0 && reasons.map((reason) => <Text key={reason} inherit className="page-title" children={reason} />)}
          onChange={(event) => setAddresses(event.currentTarget.value)}
        />
        <Group justify="space-between">
          <Button variant="subtle" aria-expanded={hasList} disabled={isBusy} onClick={() => setHasList(!hasList)}>
            {t('csv.open')}
          </Button>
          <Group>
            <Button variant="default" disabled={isBusy} onClick={end}>
              {t('common.cancel')}
            </Button>
            <Button disabled={lines.length === 0 || isListRunning} loading={isRunning} onClick={() => void fetchAll()}>
              {t('upload.start')}
            </Button>
          </Group>
        </Group>
        {hasList && <CsvListPanel onRunning={setListRunning} />}
      </Stack>
    </FormDialog>
  )
}
