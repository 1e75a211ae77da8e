import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { notifyError } from '../layout/notify.ts'
import { readDroppedFiles } from './dropped-files.ts'

/** Accepts files and folders that are dropped anywhere in the window. */
export function DropOverlay({ onFiles }: { onFiles: (files: readonly File[]) => void }) {
  const { t } = useTranslation()
  const [depth, setDepth] = useState(0)
  useEffect(() => {
    const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') === true
    const enter = (event: DragEvent) => {
      if (hasFiles(event)) setDepth((before) => before + 1)
    }
    const leave = (event: DragEvent) => {
      if (hasFiles(event)) setDepth((before) => Math.max(0, before - 1))
    }
    const over = (event: DragEvent) => {
      if (hasFiles(event)) event.preventDefault()
    }
    const drop = (event: DragEvent) => {
      if (!hasFiles(event) || !event.dataTransfer) return
      event.preventDefault()
      setDepth(0)
      // A file can be unreadable, or deleted in the meantime.
      void readDroppedFiles(event.dataTransfer).then(onFiles, notifyError)
    }
    const listeners = { dragenter: enter, dragleave: leave, dragover: over, drop }
    for (const [name, listener] of Object.entries(listeners)) addEventListener(name, listener as EventListener)
    return () => {
      for (const [name, listener] of Object.entries(listeners)) removeEventListener(name, listener as EventListener)
    }
  })
  return depth > 0 ? <div className="drop-overlay">{t('upload.drop')}</div> : null
}
