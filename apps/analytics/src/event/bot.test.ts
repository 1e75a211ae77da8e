import { expect, test } from '@jest/globals'
import { isBot } from './bot.ts'

test.each([
  'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm) Chrome/116.0 Safari/537.36',
  'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
  'Mozilla/5.0 (compatible; NewsCrawler/1.0)',
  'Mozilla/5.0 (compatible; Yahoo! Slurp; http://help.yahoo.com/help/us/ysearch/slurp)',
  'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)',
  'WhatsApp/2.23.20.0',
  'Mozilla/5.0 (Linux; Android 11) AppleWebKit/537.36 Chrome/109.0 Safari/537.36 Chrome-Lighthouse',
  'Mozilla/5.0 (compatible; SomethingBot/3.2)',
  'Mozilla/5.0 (compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)',
])('%s is a bot', (agent) => expect(isBot(agent)).toBe(true))

test.each([
  '',
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/140.0.0.0 Safari/537.36',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (SMART-TV; Linux; Tizen 8.0) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/5.2 TV Safari/537.36',
  'Mozilla/5.0 (Linux; Android 8.0.0; CUBOT_X18 Build/NRD90M) AppleWebKit/537.36 Chrome/109.0 Mobile Safari/537.36',
  'curl/8.5.0',
  'node',
  'python-requests/2.32.3',
  'okhttp/5.1.0',
])('%j is not a bot', (agent) => expect(isBot(agent)).toBe(false))
