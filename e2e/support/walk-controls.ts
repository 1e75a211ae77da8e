import { waitFor } from '@vitascope/testing'
import type { Locator, Page, Request } from 'playwright-core'

/** Elements that a person can use. Elements inside frames are not included. */
const CONTROLS = [
  ...['a[href]', 'button', 'input', 'textarea', 'select', 'summary'],
  ...['tab', 'menuitem', 'option', 'switch', 'slider'].map((role) => `[role=${role}]`),
].join(', ')
const EFFECT_TIMEOUT_MS = 5_000

/** A control, as it is named in a report. */
export interface Control {
  /** Kind and name, such as `button "Delete"`. */
  name: string
  /** Position among the controls of the same name. */
  nth: number
}

interface Options {
  page: Page
  /** Opens the page or dialog in its first state. */
  open: () => Promise<void>
  /** Part of the page whose controls are used. */
  scope: Locator
  /** Controls that are not used, because they end the walk. */
  isSkipped?: (name: string) => boolean
}

/** Uses every visible, enabled control. Returns the names of the used controls, and of the dead ones, which had no effect. */
export async function walkControls({ page, open, scope, isSkipped = () => false }: Options): Promise<{ used: string[]; dead: string[] }> {
  const [used, dead]: [string[], string[]] = [[], []]
  await open()
  const controls = await listControls(scope)
  let isFirstState = true
  for (const control of controls.filter(({ name }) => !isSkipped(name))) {
    if (!isFirstState) await open()
    isFirstState = false
    const element = await findControl(scope, control)
    // An earlier control has removed it, such as the button of a row that was deleted.
    if (!element) continue
    used.push(control.name)
    if (!(await hasEffect(page, element))) dead.push(control.name)
  }
  return { used, dead }
}

/** Returns the visible, enabled controls in their order. */
async function listControls(scope: Locator): Promise<Control[]> {
  const counts = new Map<string, number>()
  const controls: Control[] = []
  for (const element of await scope.locator(CONTROLS).all()) {
    if (!(await isUsable(element))) continue
    const name = await nameOf(element)
    const nth = counts.get(name) ?? 0
    counts.set(name, nth + 1)
    controls.push({ name, nth })
  }
  return controls
}

async function findControl(scope: Locator, { name, nth }: Control): Promise<Locator | undefined> {
  let count = 0
  for (const element of await scope.locator(CONTROLS).all()) {
    if (!(await isUsable(element)) || (await nameOf(element)) !== name) continue
    if (count++ === nth) return element
  }
  return undefined
}

/** Inputs of switches and file selection are not visible themselves. Their labels and buttons are. */
async function isUsable(element: Locator): Promise<boolean> {
  return await element.evaluate((node) => {
    const { type = '', disabled = false, readOnly = false } = node as unknown as { type?: string; disabled?: boolean; readOnly?: boolean }
    // Read-only fields show a text to copy.
    if (readOnly && node.getAttribute('role') !== 'combobox' && node.getAttribute('aria-haspopup') === null) return false
    if (disabled || type === 'file' || type === 'hidden' || node.closest('[inert], [aria-hidden=true], [data-disabled]')) return false
    // The selected one of several options.
    if (type === 'radio' && (node as unknown as { checked: boolean }).checked) return false
    const box = node.getBoundingClientRect()
    return type === 'checkbox' || type === 'radio' || (box.width > 1 && box.height > 1)
  })
}

async function nameOf(element: Locator): Promise<string> {
  return await element.evaluate((node) => {
    const {
      labels,
      type = '',
      placeholder = '',
    } = node as unknown as {
      labels?: ArrayLike<{ textContent: string | null }>
      type?: string
      placeholder?: string
    }
    const label =
      node.getAttribute('aria-label') ?? labels?.[0]?.textContent ?? (node.textContent || placeholder || node.getAttribute('name'))
    return `${node.getAttribute('role') ?? node.tagName.toLowerCase()}${type && ` ${type}`} "${(label ?? '').trim().slice(0, 60)}"`
  })
}

/** Uses a control. Returns whether the page changed, or sent a request, or opened a file selection, download or page. */
async function hasEffect(page: Page, element: Locator): Promise<boolean> {
  let events = 0
  const count = () => void events++
  const onRequest = (request: Request) => {
    if (!request.url().includes('/player/')) count()
  }
  // A submit button moves the focus to an invalid field, which may have it already.
  await page.evaluate('document.activeElement?.blur()')
  const before = await waitForStableState(page)
  page.on('request', onRequest).on('popup', count).on('download', count).on('filechooser', count).on('dialog', count)
  try {
    await use(element)
    return await waitFor(async () => events > 0 || (await readState(page)) !== before, { timeout: EFFECT_TIMEOUT_MS }).then(
      () => true,
      () => false,
    )
  } finally {
    page.off('request', onRequest).off('popup', count).off('download', count).off('filechooser', count).off('dialog', count)
  }
}

/** Waits until two successive reads of the page are equal, so that loading does not count as an effect. Returns that state. */
async function waitForStableState(page: Page): Promise<string> {
  let last = await readState(page)
  const isStable = async () => {
    const previous = last
    last = await readState(page)
    return last === previous
  }
  await waitFor(isStable, { timeout: EFFECT_TIMEOUT_MS, interval: 100, describe: 'the page to stop changing' })
  return last
}

async function use(element: Locator): Promise<void> {
  const { tag, type, isReadOnly } = await element.evaluate((node) => {
    const { type = '', readOnly = false } = node as unknown as { type?: string; readOnly?: boolean }
    return { tag: node.tagName, type, isReadOnly: readOnly }
  })
  const isText = tag === 'TEXTAREA' || (tag === 'INPUT' && !['checkbox', 'radio', 'range', 'color'].includes(type))
  if (type === 'range') await element.press('ArrowRight')
  // The input itself is hidden or outside of the page, because its label is shown instead. A real click would fail.
  else if (type === 'checkbox' || type === 'radio') await element.dispatchEvent('click')
  else if (!isText) await element.click()
  else if (isReadOnly) await element.click()
  else if (type === 'datetime-local') await element.fill('2040-01-01T12:00')
  else await element.pressSequentially(type === 'number' ? '1' : type === 'date' ? '01012026' : 'a')
}

/**
 * Returns everything that a person can see: the address, the elements, the values of inputs, and the field for which the
 * browser shows a message.
 */
async function readState(page: Page): Promise<string> {
  return await page.evaluate(`[
    location.href,
    document.documentElement.outerHTML,
    [...document.querySelectorAll('input, textarea, select')].map((input) => [input.value, input.checked]),
    document.activeElement?.matches(':invalid') ? document.activeElement.id : '',
  ].join('\\n')`)
}
