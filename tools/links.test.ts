import { expect, test } from '@jest/globals'
import { findAnchors, findLinks } from './links.ts'

test('findLinks returns relative links to files and headings, and ignores code and URLs', () => {
  const text = '[a](b.md#c) [d](https://e.org) `[f](g.md)`\n```\n[h](i.md)\n```\n[j\nk](#l) [m](/docs)\n'
  expect(findLinks(text)).toEqual(['b.md#c', '#l'])
})

test('findAnchors returns the anchors of GitHub, with a number if a heading is repeated', () => {
  const text = '# Settings of `npm start`\n## Mail, players and logs\n## S3\n## S3\n```\n# no heading\n```\n'
  expect([...findAnchors(text)]).toEqual(['settings-of-npm-start', 'mail-players-and-logs', 's3', 's3-1'])
})
