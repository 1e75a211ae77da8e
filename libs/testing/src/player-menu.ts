import type { FrameLocator, Page } from 'playwright-core'
import { extendTimeout } from './timeouts.ts'
import { waitFor } from './wait-for.ts'

/** Menus of the player's settings. */
export type PlayerMenu = 'quality' | 'speed' | 'audio' | 'captions'

const TIMEOUT_MS = 20_000
const CLICK_TIMEOUT_MS = extendTimeout(3_000)

/** Waits until the player has choices in a menu. */
export async function waitForMenu(page: Page | FrameLocator, menu: PlayerMenu): Promise<void> {
  await page.locator(`[data-menu=${menu}]`).waitFor({ state: 'attached', timeout: extendTimeout(TIMEOUT_MS) })
}

/** Opens a menu and returns its choices, of which the checked one begins with `✓ `. The menu is closed again. */
export async function listChoices(page: Page, menu: PlayerMenu): Promise<string[]> {
  const choices = await waitFor(
    async () => {
      const items = await openMenu(page, menu)
      return items.evaluateAll((elements) =>
        elements.map((item) => `${item.getAttribute('aria-checked') === 'true' ? '✓ ' : ''}${item.textContent?.trim()}`),
      )
    },
    { timeout: TIMEOUT_MS, describe: `the choices of ${menu}` },
  )
  await closeMenus(page)
  return choices
}

/** Chooses an item of a menu by its text, with the mouse. A menu that closes because the page has lost the focus is opened again. */
export async function chooseInMenu(page: Page, menu: PlayerMenu, label: string): Promise<void> {
  await waitFor(
    async () => {
      const items = await openMenu(page, menu)
      await items.filter({ hasText: new RegExp(`^\\s*${label}\\s*$`) }).click({ timeout: CLICK_TIMEOUT_MS })
      return true
    },
    { timeout: TIMEOUT_MS, describe: `the choice of ${label}` },
  )
  await closeMenus(page)
}

async function openMenu(page: Page, menu: PlayerMenu) {
  await waitForMenu(page, menu)
  await closeMenus(page)
  await page.mouse.move(5, 5)
  await page.locator('.settings-button').click()
  await page.locator(`[data-menu=${menu}]`).click({ timeout: CLICK_TIMEOUT_MS })
  const items = page.locator(`[data-menu=${menu}]`).locator('[role=menuitemradio]')
  await items.first().waitFor({ timeout: CLICK_TIMEOUT_MS })
  return items
}

async function closeMenus(page: Page): Promise<void> {
  const settings = page.locator('.settings')
  const isOpen = () => settings.evaluate((element) => !element.hasAttribute('hidden'))
  await waitFor(
    async () => {
      if (!(await isOpen())) return true
      await page.locator('.settings-button').click()
      return !(await isOpen())
    },
    { describe: 'the menu to close' },
  )
}
