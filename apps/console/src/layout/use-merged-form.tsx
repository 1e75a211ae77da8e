import { type Dispatch, type ReactNode, type SetStateAction, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { ConflictAlert, type OtherValue } from './conflict-alert.tsx'
import { listChanges, listConflicts, mergeChanges } from './merge-changes.ts'
import { useUnsavedChanges } from './unsaved-changes.tsx'

interface MergedForm<T> {
  form: T
  setForm: Dispatch<SetStateAction<T>>
  isChanged: boolean
  /**
   * Returns the values to store: the stored ones with the changes of the form. Returns undefined if another person has
   * changed the same values, or if `isValid` rejects the result. `renderConflict` then shows the conflict.
   */
  merge: (options: { stored: T; overwrites: boolean; isValid?: (merged: T) => boolean }) => T | undefined
  /** Shows a conflict, if there is one. `keepMine` saves with `overwrites`; `describe` describes a value for people. */
  renderConflict: (alert: {
    title: string
    describe: (name: keyof T, theirs: T) => OtherValue
    isPending: boolean
    keepMine: () => void
  }) => ReactNode
}

/** State of a form whose values another person may change at the same time. The user decides which version to keep. */
export function useMergedForm<T extends object>(initial: T): MergedForm<T> {
  const { t } = useTranslation()
  /** The stored values on which the form is based. */
  const [base, setBase] = useState(initial)
  const [form, setForm] = useState(initial)
  /** The stored values, if there is a conflict. */
  const [theirs, setTheirs] = useState<T>()
  const isChanged = listChanges(form, base).length > 0
  useUnsavedChanges(isChanged)
  return {
    ...{ form, setForm, isChanged },
    merge({ stored, overwrites, isValid = () => true }) {
      const merged = mergeChanges(form, base, stored)
      if (overwrites) return isValid(merged) ? merged : form
      if (listConflicts(form, base, stored).length === 0 && isValid(merged)) return merged
      setTheirs(stored)
      return undefined
    },
    renderConflict({ describe, ...alert }) {
      if (!theirs) return null
      const loadTheirs = () => {
        setBase(theirs)
        setForm(theirs)
        setTheirs(undefined)
      }
      const others = listConflicts(form, base, theirs).map((name) => describe(name, theirs))
      return <ConflictAlert {...alert} text={t('common.conflictText')} theirs={others} loadTheirs={loadTheirs} />
    },
  }
}
