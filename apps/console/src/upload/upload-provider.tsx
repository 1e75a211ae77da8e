import { useDisclosure } from '@mantine/hooks'
import { useQueryClient } from '@tanstack/react-query'
import { createContext, type ReactNode, useContext, useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useSession } from '../api/session.tsx'
import { refreshJobs } from '../job/job-state.ts'
import { lazyPart } from '../layout/lazy-part.tsx'
import { notifyWarning } from '../layout/notify.ts'
import { DropOverlay } from './drop-overlay.tsx'
import { createUploadQueue, type UploadItem, type UploadQueue } from './upload-queue.ts'

interface Uploads {
  items: readonly UploadItem[]
  queue: UploadQueue
  /** Uploads a file that replaces the source of a media. */
  replaceSource: (file: File, mediaId: string) => void
  openDialog: () => void
}

/** Messages about files that were not added are cut after this many. */
const MAX_MESSAGES = 5

/** The dialog is loaded when it is opened. */
const UploadDialog = lazyPart(() => import('./upload-dialog.tsx').then(({ UploadDialog }) => UploadDialog))

const UploadContext = createContext<Uploads | undefined>(undefined)

/** Keeps uploads running while pages change, and accepts files that are dropped anywhere. */
export function UploadProvider({ children }: { children: ReactNode }) {
  const { t } = useTranslation()
  const { api, organisationId } = useSession()
  const queryClient = useQueryClient()
  const [items, setItems] = useState<readonly UploadItem[]>([])
  const [isOpen, { open, close }] = useDisclosure(false)
  const queueRef = useRef<UploadQueue>(undefined)
  queueRef.current ??= createUploadQueue({
    onChange: setItems,
    onUploaded: () => void refreshJobs(queryClient),
  })
  const queue = queueRef.current
  useEffect(() => queue.setApi(api, organisationId), [queue, api, organisationId])
  const isRunning = items.some(({ state }) => state === 'sending' || state === 'waiting')
  useEffect(() => {
    if (!isRunning) return
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [isRunning])
  const add = async (files: readonly File[], mediaId?: string) => {
    // Without this check, the platform rejects an upload itself when it starts.
    const rejected = await import('./over-quota.ts')
      .then(({ findOverQuota }) =>
        findOverQuota(files, { api, organisationId, queryClient, waitingBytes: queue.waitingBytes(organisationId) }),
      )
      .catch(() => new Map<File, string>())
    const allowed = files.filter((file) => !rejected.has(file))
    const skipped = queue.add(allowed, mediaId).map((name) => t('upload.notVideo', { name }))
    const messages = [...skipped, ...new Set(rejected.values())]
    const shown = [...messages.slice(0, MAX_MESSAGES), ...(messages.length > MAX_MESSAGES ? ['…'] : [])]
    // Only the last warning stays.
    if (shown.length > 0) notifyWarning(shown.join(' '))
  }
  const uploads = { items, queue, openDialog: open, replaceSource: (file: File, mediaId: string) => void add([file], mediaId) }
  return (
    <UploadContext.Provider value={uploads}>
      {children}
      <DropOverlay onFiles={(files) => void add(files)} />
      {isOpen && <UploadDialog close={close} onFiles={(files) => void add(files)} />}
    </UploadContext.Provider>
  )
}

export function useUploads(): Uploads {
  const uploads = useContext(UploadContext)
  if (!uploads) throw new Error('there are no uploads above this component')
  return uploads
}
