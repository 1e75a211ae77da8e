// Faults: S1, S5
import { expect, test } from '@jest/globals'
import { forbiddenHosts } from '../test/forbidden-hosts.ts'
import { checkUrl } from './check-url.ts'
import { sourcePolicy } from './policy.ts'

const strict = sourcePolicy()

test('the list has at least 60 different forbidden hosts', () => {
  expect(new Set(forbiddenHosts).size).toBeGreaterThanOrEqual(60)
})

test.each(forbiddenHosts)('the host %s is rejected with any port and path', (host) => {
  for (const rest of ['/', ':8080/x.mp4', ':443/latest/meta-data/?a=b#c']) expect(checkUrl(`http://${host}${rest}`, strict)).not.toEqual([])
})

test.each([
  'http://example.com/video.mp4',
  'https://example.com/video.mp4?token=abc#t=1',
  'HTTPS://EXAMPLE.com:443/',
  'http://example.com:80/',
  'http://example.com:1024/',
  'http://example.com:65535/',
  'http://93.184.216.34/',
  'http://[2606:2800:220:1:248:1893:25c8:1946]/',
  'http://metadata.internal/',
  'http://bücher.example/ä?ö',
  'http://my-localhost.example/',
])('%s is accepted', (url) => {
  expect(checkUrl(url, strict)).toEqual([])
})

test.each([
  '',
  'video.mp4',
  '/video.mp4',
  '//example.com/x',
  'example.com/x',
  'file:///etc/passwd',
  'ftp://example.com/x',
  'gopher://example.com/x',
  'data:video/mp4;base64,AAAA',
  'ws://example.com/',
  'unix:/run/x.sock',
  'http+unix://%2frun%2fx.sock/',
  'javascript:alert(1)',
  'blob:http://example.com/x',
  'concat:a|b',
  'http:',
  'http://',
  'http://exa mple.com/',
  'http://example.com/a b',
  'http://example.com/\n',
  ' http://example.com/',
  'ht\ntp://example.com/',
  'http://exam\u00adple.com/',
  'http://example.com\\@127.0.0.1/',
  'http://example.com/\0',
  'http://[fe80::1%25eth0]/',
  'http://1.2.3.4.5/',
  'http://256.1.1.1/',
  'http://example.com:65536/',
  'http://example.com:-1/',
  `http://example.com/${'a'.repeat(9000)}`,
])('%j is rejected', (url) => {
  expect(checkUrl(url, strict)).toHaveLength(1)
})

test.each([0, 1, 21, 22, 25, 79, 81, 442, 444, 1023])('port %d is rejected even for an allowed address', (port) => {
  const open = sourcePolicy({ allow: ['0.0.0.0/0'] })
  expect(checkUrl(`http://example.com:${port}/`, strict)).toEqual(['must use port 80, 443, or one from 1024 on'])
  expect(checkUrl(`http://127.0.0.1:${port}/`, open)).toEqual(['must use port 80, 443, or one from 1024 on'])
})

test('all errors are reported together', () => {
  expect(checkUrl('http://user:secret@127.0.0.1:22/', strict)).toHaveLength(3)
})

test.each(['http://user@example.com/', 'http://:pass@example.com/', 'http://user:pass@example.com/'])(
  '%s is rejected because it contains credentials',
  (url) => {
    expect(checkUrl(url, strict)).toEqual(['must not contain a user name or password'])
  },
)

test('an allowed network permits its addresses in any notation, and no others', () => {
  const local = sourcePolicy({ allow: ['127.0.0.0/8', 'fd00::/8'] })
  for (const host of ['127.0.0.1', '2130706433', 'localhost', '[fd00::1]']) expect(checkUrl(`http://${host}:8080/`, local)).toEqual([])
  for (const host of ['10.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '[fe80::1]'])
    expect(checkUrl(`http://${host}:8080/`, local)).toHaveLength(1)
})

test.each(['10.0.0.0/33', '10.0.0', 'fd00::/129', '10.0.0.0/-1', '010.0.0.0/8', 'fe80::1%eth0/64', '', '/8', '10.0.0.0/8/8'])(
  '%j is not a valid network',
  (text) => {
    expect(() => sourcePolicy({ allow: [text] })).toThrow('must be a network')
  },
)
