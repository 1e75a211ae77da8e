import { requireElement } from '../dom/require-element.ts'
import { type Access, type AccessCheck, checkAccess } from './access.ts'
import { storedAccess } from './resumable-uploads.ts'

/**
 * Shows the form for the access key. `onAccepted` is called when a key was checked, also one that
 * is stored in this tab.
 */
export function showAccessForm(form: HTMLFormElement, onAccepted: (access: Access) => void): { reject: (text: string) => void } {
  const key = requireElement(form, 'input[name=key]', HTMLInputElement)
  const organisation = requireElement(form, 'input[name=organisation]', HTMLInputElement)
  const organisationField = requireElement(form, '.organisation', HTMLElement)
  const fault = requireElement(form, '.fault', HTMLElement)
  const button = requireElement(form, 'button[type=submit]', HTMLButtonElement)
  let check = new AbortController()

  const showEntry = (isShown: boolean) => {
    requireElement(form, '.access-entry', HTMLElement).hidden = !isShown
    requireElement(form, '.access-accepted', HTMLElement).hidden = isShown
  }
  const showFault = (text: string, field: HTMLInputElement) => {
    fault.hidden = text === ''
    fault.textContent = text
    field.setAttribute('aria-invalid', String(text !== ''))
  }
  /** Returns the field that the user changes next, or undefined. */
  const showResult = (result: AccessCheck, access: Access): HTMLInputElement | undefined => {
    if (result.kind === 'accepted') {
      storedAccess.save(access)
      showEntry(false)
      onAccepted(access)
      return undefined
    }
    showEntry(true)
    organisationField.hidden = result.kind === 'rejected'
    const field = result.kind === 'rejected' ? key : organisation
    showFault(result.text, field)
    return field
  }
  const submit = async () => {
    check.abort()
    check = new AbortController()
    const { signal } = check
    const access = { key: key.value.trim(), organisationId: organisationField.hidden ? '' : organisation.value.trim() }
    showFault('', organisation)
    showFault('', key)
    if (access.key === '') return showResult({ kind: 'rejected', text: 'Enter your access key.' }, access)?.focus()
    if (!organisation.validity.valid) {
      return showResult({ kind: 'organisation required', text: 'Enter the number in digits.' }, access)?.focus()
    }
    button.textContent = 'Checking …'
    const onWaiting = (waiting: unknown) => {
      if (!signal.aborted) button.textContent = waiting ? 'No connection. Trying again …' : 'Checking …'
    }
    try {
      const result = await checkAccess(access, onWaiting, signal)
      button.textContent = 'Continue'
      showResult(result, access)?.focus()
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }

  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void submit()
  })
  requireElement(form, '.change-key', HTMLButtonElement).addEventListener('click', () => {
    showEntry(true)
    key.select()
  })
  const stored = storedAccess.read()
  key.value = stored.key
  organisation.value = stored.organisationId
  organisationField.hidden = stored.organisationId === ''
  if (stored.key !== '') void submit()
  return {
    // The user may be typing elsewhere, so the focus stays.
    reject: (text) => void showResult({ kind: 'rejected', text }, { key: '', organisationId: '' }),
  }
}
