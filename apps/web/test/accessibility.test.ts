import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { browserPath } from '@vitascope/testing'
import type { Page } from 'playwright-core'
import { type PlayerFixture, startPlayerFixture } from './player-fixture.ts'

const describeInBrowser = browserPath() === undefined ? describe.skip : describe
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Returns the violations that axe finds in the page, each with its elements. */
async function findViolations(page: Page): Promise<string[]> {
  await page.evaluate(axe)
  return page.evaluate(async () => {
    const { axe } = window as unknown as { axe: { run(): Promise<{ violations: { id: string; nodes: { target: unknown }[] }[] }> } }
    const { violations } = await axe.run()
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => JSON.stringify(target)).join(', ')}`)
  })
}

/** Checks states of the player on a narrow light screen and on a wide dark screen. */
describeInBrowser('axe finds no violation', () => {
  let fixture: PlayerFixture
  beforeAll(async () => {
    fixture = await startPlayerFixture()
    const { platform, video } = fixture
    const card = {
      title: 'Tickets',
      link_text: 'To the shop',
      link_url: 'https://shop.example/',
      show: { during: { start: '00:00', end: '00:06' } },
    }
    platform.setRecord('v', video({ overlays: [card], player_settings: { allow_sharing: '1' }, sharing: { url: 'x' } }))
    const form = { contact_form_id: '5', primary_text: 'Who are you?', capture_names: '1', capture_company_name: '1', capture_opt_in: '1' }
    platform.setRecord('form', video({ contact_form: form }))
    platform.setRecord('encoding', { video_title: 'Launch', status: { status: 'encoding', progress: 42, code: 2 } })
    platform.setRecord('playable-encoding', video({ duration: '60.00', status: { status: 'encoding', progress: 42, code: 2 } }))
    platform.setRecord('failed', { video_title: 'Launch', status: { status: 'failed', progress: 7, code: 4001 } })
    platform.setRecord('expired', { code: 'video_expired', detail: 'The sale is over.' }, 404)
    platform.setRecord('token', video({ security: { token_required_platform: true } }))
    platform.setRecord('password', video({ player_settings: { password_protected: '1' } }))
    platform.setRecord('rule', { code: 'rule_refused', detail: '' }, 403)
    platform.setRecord('busy', {}, 503)
    platform.setRecord('talk', video({ presentation_id: '9' }))
    platform.setRecord('9', {
      slides: {
        '1': { seconds: 0, url: `${platform.url}/media/poster.jpg` },
        '2': { seconds: 2, url: `${platform.url}/media/poster.jpg` },
      },
    })
    platform.setHead('list', '<meta name="vitascope:shows" content="playlist">')
    platform.setRecord('list', {
      title: 'All',
      open_in_playlist_view: '1',
      videos: ['a', 'b'].map((id) => video({ video_id: id, video_title: id })),
    })
    for (const id of ['a', 'b']) platform.setRecord(id, video())
  }, 60_000)
  afterAll(() => fixture?.stop())

  const idsWithMessage = ['form', 'encoding', 'failed', 'expired', 'missing', 'token', 'password', 'rule', 'busy']
  const screens = [
    { colorScheme: 'light', viewport: { width: 390, height: 844 } },
    { colorScheme: 'dark', viewport: { width: 1440, height: 810 } },
  ] as const
  const screenshot = async (page: Page, name: string) => {
    const folder = process.env['VITASCOPE_SCREENSHOTS']
    if (folder) await page.screenshot({ path: join(folder, `state-${name}.png`) })
  }

  test.each(screens)(
    'in the states of the player: %j',
    async (screen) => {
      const page = await fixture.openPage(screen)
      const found: Record<string, string[]> = {}
      const check = async (name: string) => {
        await screenshot(page, `${name}-${screen.viewport.width}-${screen.colorScheme}`)
        found[name] = await findViolations(page)
      }
      for (const id of idsWithMessage) {
        await page.goto(`${fixture.platform.url}/player/${id}`)
        await page.locator('.card h1:not(:empty)').waitFor()
        await check(id)
      }
      for (const id of ['v', 'playable-encoding', 'talk', 'list']) {
        for (const skin of id === 'v' ? ['akita', 'poodle', 'pug'] : ['akita']) {
          await fixture.open(page, id, `?muted=1&presentation=1&player=${skin}`)
          await check(`${id}-${skin}`)
        }
      }
      await fixture.open(page, 'v')
      await page.keyboard.press('?')
      await check('shortcuts')
      await page.keyboard.press('Escape')
      await page.locator('.settings-button').click()
      await page.getByRole('menuitem', { name: /Quality/ }).click()
      await page.getByRole('menuitemradio').first().waitFor()
      await check('menu')
      expect(Object.fromEntries(Object.entries(found).filter(([, violations]) => violations.length > 0))).toEqual({})
    },
    120_000,
  )
})
