import { expect, test } from '@jest/globals'
import { createCrawlerCheck } from './crawlers.ts'

const GOOGLE = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'
const CRAWLERS = [
  GOOGLE,
  'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)',
  'Mozilla/5.0 (Linux; Android 5.0) AppleWebKit/537.36 (KHTML, like Gecko; compatible; Bytespider; spider-feedback@bytedance.com)',
  'CCBot/2.0 (https://commoncrawl.org/faq/)',
  'facebookexternalhit/1.1',
  'Twitterbot/1.0',
  'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
  'Mozilla/5.0 (compatible; Yahoo! Slurp; http://help.yahoo.com/help/us/ysearch/slurp)',
  'ia_archiver',
]
const OTHERS = [
  undefined,
  '',
  'curl/8.5.0',
  'python-requests/2.31',
  'Lavf/60.16.100',
  'VLC/3.0.20 LibVLC/3.0.20',
  'AppleCoreMedia/1.0.0.21F90 (iPhone; U; CPU OS 17_5_1 like Mac OS X; en_us)',
  'Mozilla/5.0 (Linux; Android 11; CUBOT NOTE 20) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0 Mobile Safari/537.36',
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/130.0 Safari/537.36',
  'Kodi/20.2 (Linux; Android 11)',
  'ExoPlayerLib/2.19',
]

test.each(CRAWLERS)('%s is a crawler', (agent) => expect(createCrawlerCheck([])(agent)).toBe(true))

test.each(OTHERS)('%p is not a crawler', (agent) => expect(createCrawlerCheck([])(agent)).toBe(false))

test('allowed crawlers are served like viewers', () => {
  const isCrawler = createCrawlerCheck(['googlebot'])
  expect([isCrawler(GOOGLE), isCrawler('CCBot/2.0')]).toEqual([false, true])
  expect(createCrawlerCheck(['*'])(GOOGLE)).toBe(false)
})

test('only the first 500 characters of a user agent are checked', () => {
  expect(createCrawlerCheck([])(`${'x'.repeat(500)} Googlebot`)).toBe(false)
})
