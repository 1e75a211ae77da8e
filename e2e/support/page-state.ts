import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from '@jest/globals'
import axe from 'axe-core'
import type { Page } from 'playwright-core'

const SCREENSHOTS = process.env['VITASCOPE_SCREENSHOTS']

/** Options of axe for each colour scheme. The dark one has only the rules about colours, whose results depend on the scheme. */
const RULES = { light: '{}', dark: `{ runOnly: ['color-contrast', 'link-in-text-block'] }` }

/**
 * Expects that axe finds no violation in the page, except in its player, in the light and in the dark colour scheme. If
 * `VITASCOPE_SCREENSHOTS` names a folder, stores screenshots in three widths there, as `NAME-SCHEME-WIDTH.png`. The page
 * keeps the dark scheme, reduced motion and, after screenshots, the largest width.
 */
export async function checkState(page: Page, name: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    // Pages of Mantine apply the colour scheme of the browser with a delay.
    const root = page.locator('html[data-mantine-color-scheme]')
    if ((await root.count()) > 0) await page.locator(`html[data-mantine-color-scheme='${colorScheme}']`).waitFor({ state: 'attached' })
    if (!(await page.evaluate<boolean>(`'axe' in window`))) await page.evaluate(axe.source)
    const violations = await page.evaluate(`axe.run({ exclude: ['vitascope-player'] }, ${RULES[colorScheme]}).then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html, any }) => html + any.map(({ message }) => message)).join(' ')))`)
    expect([name, colorScheme, violations]).toEqual([name, colorScheme, []])
    for (const width of SCREENSHOTS === undefined ? [] : [390, 820, 1440]) {
      await mkdir(SCREENSHOTS ?? '', { recursive: true })
      await page.setViewportSize({ width, height: 900 })
      await page.screenshot({ path: join(SCREENSHOTS ?? '', `${name}-${colorScheme}-${width}.png`), fullPage: true })
    }
  }
}
