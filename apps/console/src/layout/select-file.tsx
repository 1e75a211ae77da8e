import { FileButton, type FileButtonProps } from '@mantine/core'
import { useRef } from 'react'

interface Props {
  accept: string
  onSelect: (file: File) => void
  children: FileButtonProps['children']
}

/** Opens the file dialog. The same file can be selected again, for example after it was corrected. */
export function SelectFile({ accept, onSelect, children }: Props) {
  const resetRef = useRef<() => void>(null)
  const select = (file: File | null) => {
    resetRef.current?.()
    if (file) onSelect(file)
  }
  return (
    <FileButton resetRef={resetRef} accept={accept} onChange={select}>
      {children}
    </FileButton>
  )
}
