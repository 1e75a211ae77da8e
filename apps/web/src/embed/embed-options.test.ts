import { expect, jest, test } from '@jest/globals'
import { readEmbed } from './embed-options.ts'

const script = 'https://video.example.org/player/embed.js'

test('the options are read from the data attributes, and the player URL has the host of the script', () => {
  const data = {
    ...{ id: '42', title: 'Launch', width: '640', height: '50%', ratio: '1280/720', token: 'to.k&en', elementId: 'here' },
    ...{ referrerUrl: 'https://www.example.org/?a=b', player: 'pug', presentation: 'true' },
  }
  const embed = readEmbed(script, data)
  const address = new URL(embed.src)
  expect([address.origin, address.pathname]).toEqual(['https://video.example.org', '/player/42'])
  expect(Object.fromEntries(address.searchParams)).toEqual({
    ...{ token: 'to.k&en', referrer: 'https://www.example.org/?a=b', player: 'pug', presentation: 'true' },
  })
  expect(embed).toMatchObject({ title: 'Launch', width: '640px', height: '50%', ratio: '1280/720', elementId: 'here' })
})

test('missing and malformed attributes are ignored, and malformed lengths are reported', () => {
  const warn = jest.spyOn(console, 'warn').mockImplementation(() => {})
  expect(readEmbed(script, { id: '7', width: '100%;color:red', height: 'x', ratio: '16/9;x' })).toEqual({
    src: 'https://video.example.org/player/7',
    title: 'Video',
    width: '100%',
    height: undefined,
    ratio: '16/9',
    elementId: undefined,
  })
  expect(warn.mock.calls.map(([message]) => String(message).split(' must ')[0])).toEqual([
    'Vitascope: data-width',
    'Vitascope: data-height',
  ])
  warn.mockRestore()
})

test.each(['../../x', '//evil.example', 'https://evil.example', 'a?b#c', '%2e%2e'])(
  'an id cannot change the host or the path of the player: %p',
  (id) => {
    expect(new URL(readEmbed(script, { id }).src).href.startsWith('https://video.example.org/player/')).toBe(true)
  },
)
