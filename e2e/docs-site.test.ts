import { globSync, readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { browserArguments, browserPath, extendTimeout, waitFor } from '@vitascope/testing'
import axe from 'axe-core'
import { parse } from 'parse5'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { SYSTEM_KEY, startTestPlatform, type TestPlatform } from './support/test-platform.ts'

const root = join(import.meta.dirname, '..')
const browserFile = browserPath()
const SCREENSHOTS = process.env['VITASCOPE_SCREENSHOTS']
const describeInBrowser = browserFile === undefined ? describe.skip : describe
const read = (file: string) => readFileSync(join(root, file), 'utf8')

/** The Markdown files of the checkout that are pages, each with its path below `/docs/`. */
const sources = new Map([
  ...globSync('docs/**/*.md', { cwd: root }).map(
    (file) => [file, file.replace(/^docs\//, '').replace(/(^|\/)README\.md$|\.md$/, '$1')] as const,
  ),
  ['ARCHITECTURE.md', 'architecture'] as const,
  ['CHANGELOG.md', 'changelog'] as const,
  ['helm/vitascope/README.md', 'reference/chart'] as const,
  ['packages/player/README.md', 'reference/player-package'] as const,
  ['packages/cli/README.md', 'reference/cli-package'] as const,
  ['packages/sdk/README.md', 'reference/sdk-package'] as const,
])
const toMarkdownPath = (path: string) => `/docs/${path}${path === '' || path.endsWith('/') ? 'README.md' : '.md'}`

let platform: TestPlatform
let browser: Browser

beforeAll(async () => {
  platform = await startTestPlatform()
}, 120_000)
afterAll(async () => {
  await browser?.close()
  await platform?.remove()
})

const fetchText = async (path: string, accept = 'text/html') => {
  const response = await fetch(`${platform.url}${path}`, { headers: { accept } })
  return { status: response.status, text: await response.text() }
}

test('the Markdown of every page is its source', async () => {
  expect(sources.size).toBeGreaterThan(60)
  for (const [file, path] of sources)
    expect([file, await fetchText(toMarkdownPath(path))]).toEqual([file, { status: 200, text: read(file) }])
})

test('llms.txt lists every page, and every address in it exists', async () => {
  const { text } = await fetchText('/llms.txt')
  const addresses = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, address = '']) => address)
  expect(addresses.filter((address) => !address.startsWith(`${platform.url}/`))).toEqual([])
  const listed = addresses.filter((address) => address.endsWith('.md')).map((address) => address.slice(platform.url.length))
  expect(listed.sort()).toEqual([...sources.values()].map(toMarkdownPath).sort())
  for (const address of addresses) expect([address, (await fetch(address)).status]).toEqual([address, 200])
})

test('every link, picture and script of every page leads to something, and none to another host', async () => {
  const pages = new Map<string, Attributes>()
  for (const path of [...sources.values(), 'api']) pages.set(`/docs/${path}`, readAttributes((await fetchText(`/docs/${path}`)).text))
  const broken: string[] = []
  const statuses = new Map<string, number>()
  for (const [page, { addresses }] of pages)
    for (const address of addresses) {
      const url = new URL(address, `${platform.url}${page}`)
      const isForeign = url.origin !== platform.url
      // Guides link to standards and projects. Such a link is loaded only when it is followed.
      if (isForeign && url.protocol.startsWith('http')) continue
      if (!statuses.has(url.pathname)) statuses.set(url.pathname, (await fetch(`${url.origin}${url.pathname}`, { method: 'HEAD' })).status)
      if (statuses.get(url.pathname) !== 200) broken.push(`${page}: ${address} is ${statuses.get(url.pathname)}`)
      const anchors = pages.get(url.pathname)?.anchors
      if (url.hash !== '' && anchors !== undefined && !anchors.has(decodeURIComponent(url.hash.slice(1))))
        broken.push(`${page}: ${address}`)
    }
  expect(broken).toEqual([])
}, 120_000)

test('every error code of the API has a description', async () => {
  const { anchors } = readAttributes((await fetchText('/docs/reference/problem-codes')).text)
  const codes = [...read('docs/openapi.json').matchAll(/"code":\s*\{[^{}]*"enum":\s*\[([^\]]*)\]/g)].flatMap(([, list = '']) =>
    [...list.matchAll(/"(\w+)"/g)].map(([, code = '']) => code),
  )
  expect(new Set(codes).size).toBeGreaterThan(80)
  expect([...new Set(codes)].filter((code) => !anchors.has(code))).toEqual([])
})

describeInBrowser('in a browser', () => {
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: browserFile ?? '', args: [...browserArguments] })
  }, 60_000)

  /** Opens a page that collects errors and requests to other hosts in `problems`. */
  const openPage = async (options: BrowserContextOptions = {}) => {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce', ...options })
    const page = await context.newPage()
    const problems: string[] = []
    page.on('console', (message) => message.type() === 'error' && problems.push(`${page.url()}: ${message.text()}`))
    page.on('pageerror', (error) => problems.push(`${page.url()}: ${error.message}`))
    page.on('request', (request) => {
      const url = request.url()
      if (!url.startsWith(`${platform.url}/`) && !url.startsWith('data:')) problems.push(`${page.url()}: ${url}`)
    })
    return { page, problems }
  }

  test('every page opens without errors and without requests to other hosts', async () => {
    const { page, problems } = await openPage()
    for (const path of sources.values()) {
      const response = await page.goto(`${platform.url}/docs/${path}`)
      await page.locator('main h1').first().waitFor()
      expect([path, response?.status()]).toEqual([path, 200])
    }
    expect(problems).toEqual([])
    await page.context().close()
  }, 240_000)

  test('the search finds a page by its words, without requests', async () => {
    const { page, problems } = await openPage()
    await page.goto(`${platform.url}/docs/`)
    await page.getByRole('button', { name: 'Search' }).click()
    await page.locator('.VPLocalSearchBox input').fill('postcode import')
    const found = page.locator('.VPLocalSearchBox a.result').first()
    await found.waitFor()
    await found.click()
    await page.getByRole('heading', { level: 1, name: 'Import postcodes' }).waitFor()
    expect(page.url()).toContain('/docs/operate/import-postcodes')
    expect(problems).toEqual([])
    await page.context().close()
  }, 60_000)

  test('the type of a problem leads to the description of its code', async () => {
    const problem = await platform.guest.get('/video/1')
    const { type } = problem.body as { type: string }
    expect(type).toBe(`${platform.url}/docs#video_not_found`)
    const { page, problems } = await openPage()
    await page.goto(type)
    await page.waitForURL('**/docs/reference/problem-codes#video_not_found')
    await page.locator('#video_not_found').waitFor()
    // The headings of the landing page keep their addresses.
    await page.goto(`${platform.url}/docs#operate`)
    await page.locator('h2#operate').waitFor()
    expect(new URL(page.url()).pathname).toMatch(/^\/docs\/?$/)
    expect(problems).toEqual([])
    await page.context().close()
  }, 60_000)

  test('the API reference lists the endpoints with samples in curl and fetch, and sends requests', async () => {
    const { page, problems } = await openPage()
    await page.goto(`${platform.url}/docs/api#tag/id-generation/GET/id`)
    const operation = page.locator('section[id$="GET/id"]').first()
    await operation
      .getByText('curl', { exact: false })
      .first()
      .waitFor({ timeout: extendTimeout(30_000) })
    await operation.getByRole('button', { name: /Curl/ }).first().click()
    await page.getByRole('option', { name: 'Fetch' }).click()
    await operation.getByText("fetch('", { exact: false }).first().waitFor()
    const client = page.getByRole('dialog')
    const token = client.getByRole('textbox', { name: 'Bearer Token' })
    // A click has no effect until the script of the page has connected the button.
    await waitFor(
      async () => {
        if ((await client.count()) === 0) await operation.getByRole('button', { name: /Test Request/ }).click()
        await token.waitFor({ timeout: extendTimeout(10_000) })
        return true
      },
      { timeout: 60_000, describe: 'the dialog that sends requests' },
    )
    await token.fill(SYSTEM_KEY)
    const answer = page.waitForResponse((response) => response.url().startsWith(`${platform.url}/v2/id`))
    await client.getByRole('button', { name: 'Send' }).first().click()
    expect((await answer).status()).toBe(200)
    expect((await (await answer).request().allHeaders())['authorization']).toBe(`Bearer ${SYSTEM_KEY}`)
    expect(problems).toEqual([])
    await page.context().close()
  }, 180_000)

  test('the API reference has samples of the command line tool for operations that it covers', async () => {
    const { page, problems } = await openPage()
    await page.goto(`${platform.url}/docs/api#tag/videos/POST/video/upload`)
    const operation = page.locator('section[id$="POST/video/upload"]').first()
    await operation
      .getByText('curl', { exact: false })
      .first()
      .waitFor({ timeout: extendTimeout(30_000) })
    await operation.getByRole('button', { name: /Curl/ }).first().click()
    await page.getByRole('option', { name: 'vitascope' }).click()
    await operation.getByText('vitascope upload clip.mp4', { exact: false }).first().waitFor()
    expect(problems).toEqual([])
    await page.context().close()
  }, 60_000)

  test('the theme that a reader chose applies to the guides and the API reference', async () => {
    const { page } = await openPage({ colorScheme: 'light' })
    await page.goto(`${platform.url}/docs/guides/find-videos`)
    const isDark = () => page.evaluate(`document.documentElement.classList.contains('dark')`)
    expect(await isDark()).toBe(false)
    await page.locator('.VPSwitchAppearance').first().click()
    await page.goto(`${platform.url}/docs/api`)
    const button = page.getByRole('button', { name: 'Dark theme' })
    await button.waitFor()
    expect(await isDark()).toBe(true)
    await button.click()
    await page.goto(`${platform.url}/docs/guides/find-videos`)
    expect(await isDark()).toBe(false)
    await page.context().close()
  }, 60_000)

  /** Each width once, because axe takes seconds per page. Screenshots are taken of all combinations. */
  const SCHEMES: ['light' | 'dark', number[]][] =
    SCREENSHOTS === undefined
      ? [
          ['light', [390]],
          ['dark', [1440]],
        ]
      : [
          ['light', [390, 820, 1440]],
          ['dark', [390, 820, 1440]],
        ]
  const kinds: [string, string][] = [
    ['landing', '/docs'],
    ['guide', '/docs/guides/protect-videos'],
    ['operate', '/docs/operate/scale'],
    ['settings', '/docs/reference/settings'],
    ['codes', '/docs/reference/problem-codes'],
    ['missing', '/docs/nothing'],
    ['api', '/docs/api'],
  ]
  test.each(kinds)(
    'the page %s has no violations of axe and does not scroll sideways, light and dark',
    async (name, path) => {
      for (const [colorScheme, widths] of SCHEMES) {
        const { page } = await openPage({ colorScheme })
        for (const width of widths) {
          await page.setViewportSize({ width, height: 900 })
          if (page.url() === 'about:blank') await page.goto(`${platform.url}${path}`, { waitUntil: 'networkidle' })
          await page.locator('h1').first().waitFor()
          await checkByAxe(page, `${name} ${colorScheme} ${width}`)
          expect([name, width, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([name, width, width])
          if (SCREENSHOTS !== undefined) {
            await mkdir(SCREENSHOTS, { recursive: true })
            await page.screenshot({ path: join(SCREENSHOTS, `docs-${name}-${colorScheme}-${width}.png`) })
          }
        }
        await page.context().close()
      }
    },
    120_000,
  )
})

async function checkByAxe(page: Page, name: string): Promise<void> {
  // Colours change gradually after the start of a page.
  await waitFor(() => page.evaluate<boolean>(`document.getAnimations().every(({ playState }) => playState !== 'running')`), {
    describe: 'the animations to end',
  })
  await page.evaluate(axe.source)
  const violations = await page.evaluate(`axe.run().then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ': ' + nodes.slice(0, 4).map(({ html }) => html).join(' ')))`)
  expect([name, violations]).toEqual([name, []])
}

interface Attributes {
  addresses: Set<string>
  anchors: Set<string>
}

/** Returns the addresses that a page refers to, and the ids of its elements. */
function readAttributes(html: string): Attributes {
  const found: Attributes = { addresses: new Set(), anchors: new Set() }
  const visit = (node: unknown) => {
    const { attrs = [], childNodes = [] } = node as { attrs?: { name: string; value: string }[]; childNodes?: unknown[] }
    for (const { name, value } of attrs) {
      if (name === 'href' || name === 'src') found.addresses.add(value)
      if (name === 'id') found.anchors.add(value)
    }
    childNodes.forEach(visit)
  }
  visit(parse(html))
  return found
}
