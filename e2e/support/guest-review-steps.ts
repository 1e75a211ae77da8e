import { expect } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import type { Browser } from 'playwright-core'
import { confirmDelete, expectNoSidewaysScroll, openConsolePage } from './console-page.ts'
import { checkState } from './page-state.ts'

/** A guest opens its link in a browser of its own, plays the video, comments on it and deletes another comment. */
export async function reviewAsGuest(browser: Browser, link: string, comment: string): Promise<void> {
  const problems: string[] = []
  const page = await openConsolePage(browser, (problem) => problems.push(problem))
  try {
    await page.goto(link)
    await page.getByText('There are no comments yet').waitFor()
    const video = page.frameLocator('iframe').locator('video')
    const isLoaded = () => video.evaluate(({ readyState }: { readyState: number }) => readyState > 0)
    await waitFor(isLoaded, { describe: 'the player of the guest to load a private video' })
    for (const [text, time] of [
      [comment, '00:00:01.480'],
      ['A mistake', '00:00:02'],
    ] as const) {
      await page.getByRole('textbox', { name: 'Comment', exact: true }).fill(text)
      await page.getByRole('textbox', { name: 'From', exact: true }).fill(time)
      await page.getByRole('button', { name: 'Add the comment' }).click()
      await page.getByRole('listitem').filter({ hasText: text }).waitFor()
    }
    await page.getByRole('button', { name: 'Jump to 00:00:01.480' }).click()
    const readTime = () => video.evaluate(({ currentTime }: { currentTime: number }) => currentTime)
    await waitFor(async () => (await readTime()) === 1.48, { describe: 'the player of the guest to jump' })
    await page.getByRole('listitem').filter({ hasText: 'A mistake' }).getByRole('button', { name: 'Delete' }).click()
    await confirmDelete(page)
    await page.getByRole('listitem').filter({ hasText: 'A mistake' }).waitFor({ state: 'detached' })
    expect(await page.locator('img[src="x"]').count()).toBe(0)
    await page.evaluate(`document.querySelector('iframe')?.remove()`)
    await checkState(page, 'console-guest-review')
    await expectNoSidewaysScroll(page)
    expect(problems).toEqual([])
  } finally {
    await page.context().close()
  }
}

/** Expects that the page of a link shows that the link has ended. */
export async function expectEndedLink(browser: Browser, link: string): Promise<void> {
  const page = await openConsolePage(browser, () => {})
  try {
    await page.goto(link)
    await page.getByRole('alert').filter({ hasText: 'This link has ended' }).waitFor()
    await checkState(page, 'console-guest-review-ended')
  } finally {
    await page.context().close()
  }
}
