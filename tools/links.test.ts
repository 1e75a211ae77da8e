import { expect, test } from '@jest/globals'
import { findAnchors, findLinks } from './links.ts'

test('links are those to files and headings, outside of code', () => {
  const text = '[a](b.md#c) [d](https://e.org) `[f](g.md)`\n```\n[h](i.md)\n```\n[j\nk](#l) [m](/docs)\n'
  expect(findLinks(text)).toEqual(['b.md#c', '#l'])
})

test('anchors are those of GitHub', () => {
  const text = '# Settings of `npm start`\n## Mail, players and logs\n## S3\n## S3\n```\n# no heading\n```\n'
  expect([...findAnchors(text)]).toEqual(['settings-of-npm-start', 'mail-players-and-logs', 's3', 's3-1'])
})
