import { useDisclosure } from '@mantine/hooks'
import { useQueryClient } from '@tanstack/react-query'
import { createContext, type ReactNode, useContext, useEffect, useMemo, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useSession } from '../api/session.tsx'
import { lazyPart } from '../layout/lazy-part.tsx'
import { notifyWarning } from '../layout/notify.ts'
import { DropOverlay } from './drop-overlay.tsx'
import { createUploadQueue, type UploadItem, type UploadQueue } from './upload-queue.ts'

interface Uploads {
  items: readonly UploadItem[]
  queue: UploadQueue
  openDialog: () => void
}

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
    onVideo: () => void queryClient.invalidateQueries({ queryKey: ['videos'] }),
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
  const uploads = useMemo(() => ({ items, queue, openDialog: open }), [items, queue, open])
  const add = async (files: readonly File[]) => {
    // Without this check, the platform rejects an upload itself when it starts.
    const rejected = await import('./over-quota.ts')
      .then(({ findOverQuota }) => findOverQuota(files, { api, organisationId, queryClient, waitingBytes: queue.waitingBytes() }))
      .catch(() => new Map<File, string>())
    for (const name of queue.add(files.filter((file) => !rejected.has(file)))) notifyWarning(t('upload.notVideo', { name }))
    for (const message of new Set(rejected.values())) notifyWarning(message)
  }
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
