import type { Page } from 'playwright-core'

/** Delays all upload parts after the first `count`. Returns a function that releases them. */
export async function holdParts(page: Page, count = 0): Promise<() => Promise<void>> {
  let remaining = count
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const address = '**/v2/upload/tus/*'
  await page.route(address, async (route) => {
    if (route.request().method() === 'PATCH' && remaining-- <= 0) await released
    // The page may have aborted the request.
    await route.continue().catch(() => {})
  })
  return async () => {
    release()
    await page.unroute(address)
  }
}

/** Counts and cancels the login dialogs of the browser. Returns a function that returns their number. */
export async function countLoginPrompts(page: Page): Promise<() => number> {
  const session = await page.context().newCDPSession(page)
  let prompts = 0
  session.on('Fetch.requestPaused', ({ requestId }) => void session.send('Fetch.continueRequest', { requestId }).catch(() => {}))
  session.on('Fetch.authRequired', ({ requestId }) => {
    prompts++
    void session.send('Fetch.continueWithAuth', { requestId, authChallengeResponse: { response: 'CancelAuth' } })
  })
  await session.send('Fetch.enable', { handleAuthRequests: true, patterns: [{ urlPattern: '*' }] })
  return () => prompts
}

export async function enterKey(page: Page, key: string): Promise<void> {
  await page.getByLabel('Access key', { exact: true }).fill(key)
  await page.getByRole('button', { name: 'Continue', exact: true }).click()
}

/** Waits until the file with the title is uploaded. Returns the id of its video. */
export async function uploadedId(page: Page, title: string): Promise<string> {
  const card = page
    .locator('.card:is([data-state=uploaded], [data-state=unplayable])')
    .filter({ has: page.getByRole('heading', { name: title, exact: true }) })
  const address = await card.locator('.open').getAttribute('href')
  return address?.replace('/player/', '') ?? ''
}
