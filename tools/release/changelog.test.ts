import { expect, test } from '@jest/globals'
import { listChanges, readSection, releasedVersions, renderNotes } from './changelog.ts'

const CHANGELOG = `# Changelog

Release notes.

## 1.1.0

Shorter starts.

### Added

**Upload**

- Uploads by [tus](docs/tus.md), which
  continue.

### Security

- **Keys.** Keys expire.

### Upgrade

- Set \`publicUrl\`.

## 1.0.0

### Added

- The first version.
`

test('a section has the text of its parts', () => {
  expect(readSection(CHANGELOG, '1.1.0')).toEqual({
    version: '1.1.0',
    summary: 'Shorter starts.',
    parts: {
      Added: '**Upload**\n\n- Uploads by [tus](docs/tus.md), which\n  continue.',
      Security: '- **Keys.** Keys expire.',
      Upgrade: '- Set `publicUrl`.',
    },
  })
})

test('the versions are listed newest first, without changes that are not released', () => {
  expect(releasedVersions(CHANGELOG.replace('## 1.1.0', '## Unreleased\n\n- x\n\n## 1.1.0'))).toEqual(['1.1.0', '1.0.0'])
})

test.each([
  ['a missing section', CHANGELOG, '1.2.0', 'CHANGELOG.md has no section "## 1.2.0"'],
  ['a section whose name only begins with the version', CHANGELOG, '1.1', 'CHANGELOG.md has no section "## 1.1"'],
  ['an empty section', '## 1.0.0\n\n### Added\n', '1.0.0', 'the section of 1.0.0 is empty'],
  ['a section without parts', '## 1.0.0\n\nText.\n', '1.0.0', 'the section of 1.0.0 is empty'],
  ['an unknown part', '## 1.0.0\n\n### News\n\n- x\n', '1.0.0', '"News" in 1.0.0 is an unknown part'],
  ['changes that are not released', `## Unreleased\n\n- x\n\n${CHANGELOG}`, '1.1.0', 'npm run set-version -- 1.1.0'],
])('%s is rejected', (_, changelog, version, message) => {
  expect(() => readSection(changelog, version)).toThrow(message)
})

test('the notes of a release begin with the upgrade', () => {
  expect(renderNotes(readSection(CHANGELOG, '1.1.0'), { server: 'sha256:1' })).toBe(`# Vitascope 1.1.0

Shorter starts.

## Upgrade

- Set \`publicUrl\`.

## Security

- **Keys.** Keys expire.

## Added

**Upload**

- Uploads by [tus](docs/tus.md), which
  continue.

## Digests

| artefact | digest |
|---|---|
| server | \`sha256:1\` |
`)
})

test('the notes of a version without a part Upgrade say that no step is necessary', () => {
  expect(renderNotes(readSection(CHANGELOG, '1.0.0'), {})).toContain('## Upgrade\n\nThis version requires no manual step.')
})

test('the changes for Artifact Hub are plain lines with a kind', () => {
  expect(listChanges(readSection(CHANGELOG, '1.1.0'))).toEqual([
    { kind: 'added', description: 'Uploads by tus, which continue.' },
    { kind: 'security', description: 'Keys. Keys expire.' },
  ])
})
