import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { isBot } from './bot.ts'

test.each([
  'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm) Chrome/116.0 Safari/537.36',
  'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
  'Mozilla/5.0 (compatible; NewsCrawler/1.0)',
  'Mozilla/5.0 (compatible; SomethingBot/3.2)',
  'Mozilla/5.0 (compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)',
])('is not counted: %s', (agent) => expect(isBot(agent)).toBe(true))

test.each([
  '',
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/140.0.0.0 Safari/537.36',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (SMART-TV; Linux; Tizen 8.0) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/5.2 TV Safari/537.36',
  'CUBOT_X18 Build/NRD90M',
  'curl/8.5.0',
  'node',
])('is counted: %s', (agent) => expect(isBot(agent)).toBe(false))

test('the list has each part once, in lower case, and none that a browser has', () => {
  const parts: string[] = JSON.parse(readFileSync(new URL('./bots.json', import.meta.url), 'utf8'))
  expect(new Set(parts).size).toBe(parts.length)
  for (const part of parts) expect([part, part.length >= 4]).toEqual([part.toLowerCase(), true])
})
