import { useBlocker } from '@tanstack/react-router'
import { createContext, type ReactNode, useCallback, useContext, useEffect, useId, useState } from 'react'
import { useTranslation } from 'react-i18next'

type Report = (formId: string, isUnsaved: boolean) => void

const ReportContext = createContext<Report>(() => {})
const ConfirmContext = createContext<() => boolean>(() => true)

/** Reports to the scopes around a form whether it has changes that are not saved. */
export function useUnsavedChanges(isUnsaved: boolean): void {
  const formId = useId()
  const report = useContext(ReportContext)
  useEffect(() => {
    if (!isUnsaved) return
    report(formId, true)
    return () => report(formId, false)
  }, [report, formId, isUnsaved])
}

/** Part of a page with forms. `onChange` is called at first, and when it begins or ceases to have unsaved changes. */
export function UnsavedScope({ onChange, children }: { onChange: (isUnsaved: boolean) => void; children: ReactNode }) {
  const [formIds, setFormIds] = useState<readonly string[]>([])
  const report = useCallback<Report>(
    (formId, isUnsaved) => setFormIds((before) => (isUnsaved ? [...before, formId] : before.filter((id) => id !== formId))),
    [],
  )
  const isUnsaved = formIds.length > 0
  useUnsavedChanges(isUnsaved)
  useEffect(() => onChange(isUnsaved), [onChange, isUnsaved])
  return <ReportContext value={report}>{children}</ReportContext>
}

/**
 * The user confirms that another page is opened, or this one closed, while a form below has unsaved changes. Another
 * query of the same page, such as its tab, needs no confirmation.
 */
export function LeaveGuard({ children }: { children: ReactNode }) {
  const { t } = useTranslation()
  const [isUnsaved, setUnsaved] = useState(false)
  const mayLeave = useCallback(() => !isUnsaved || confirm(t('common.unsaved')), [isUnsaved, t])
  useBlocker({
    shouldBlockFn: ({ current, next }) => current.pathname !== next.pathname && !mayLeave(),
    enableBeforeUnload: () => isUnsaved,
  })
  return (
    <ConfirmContext value={mayLeave}>
      <UnsavedScope onChange={setUnsaved}>{children}</UnsavedScope>
    </ConfirmContext>
  )
}

/**
 * Returns `onChange` of an `UnsavedScope`, and a function for actions that replace its forms. It returns false if the user
 * does not confirm that unsaved changes are lost.
 */
export function useReplacedForms(): { onChange: (isUnsaved: boolean) => void; mayReplace: () => boolean } {
  const { t } = useTranslation()
  const [isUnsaved, setUnsaved] = useState(false)
  return { onChange: setUnsaved, mayReplace: () => !isUnsaved || confirm(t('common.unsaved')) }
}

/** Returns a function for actions that lose unsaved changes. It returns false if the user does not confirm that. */
export function useMayLeave(): () => boolean {
  return useContext(ConfirmContext)
}
