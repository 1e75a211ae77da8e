import { expect, test } from '@jest/globals'
import { type Setting, settingsReference } from './settings-reference.ts'

const port: Setting = {
  name: 'PORT',
  readers: [
    { process: '`npm start`', declaration: { name: 'PORT', description: 'A port.', values: { min: 1, max: 65_535 }, fallback: 8080 } },
    { process: 'gateway', declaration: { name: 'PORT', description: 'A port.', values: { min: 0, max: 65_535 }, fallback: 8080 } },
  ],
}
const lease: Setting = {
  name: 'LEASE_SECONDS',
  readers: [
    { process: '`npm start`' },
    {
      process: 'encoding',
      declaration: { name: 'LEASE_SECONDS', description: 'A | time.', values: { min: 1, max: 86_400 }, fallback: 90 },
    },
  ],
}
const page = (names: string) => `before\n<!-- settings: ${names} -->\nold\n<!-- end of settings -->\nafter\n`

test('a table has the default, the values, the processes and the meaning of each setting', () => {
  const text = settingsReference(page('PORT LEASE_SECONDS'), [port, lease])
  expect(text).toContain('| `PORT` | 8080 | 0 to 65535; `npm start`: 1 to 65535 | gateway, `npm start` | A port. |')
  expect(text).toContain('| `LEASE_SECONDS` | 90 | 1 to 86,400 (1 d) | encoding, `npm start` | A \\| time. |')
  expect(text).toMatch(/^before\n<!-- settings: PORT LEASE_SECONDS -->\n[\s\S]*<!-- end of settings -->\nafter\n$/)
  expect(text).not.toContain('old')
})

test('every setting must be in exactly one table', () => {
  expect(() => settingsReference(page('PORT'), [port, lease])).toThrow('no table lists LEASE_SECONDS')
  expect(() => settingsReference(page('PORT PORT'), [port])).toThrow('no process declares PORT, or it is listed twice')
})

test('all declarations of a setting must have the same description', () => {
  const readers = [
    ...port.readers,
    { process: 'delivery', declaration: { name: 'PORT', description: 'Another.', values: 'text', fallback: null } },
  ]
  expect(() => settingsReference(page('PORT'), [{ name: 'PORT', readers } as Setting])).toThrow('PORT has several descriptions')
})
