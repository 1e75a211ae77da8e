/** Parts of a section of CHANGELOG.md, in their order. */
export const PARTS = ['Added', 'Changed', 'Fixed', 'Security', 'Upgrade'] as const
export type Part = (typeof PARTS)[number]

/** A section of CHANGELOG.md. */
export interface Section {
  version: string
  /** Text between the heading and the first part. */
  summary: string
  /** Markdown of each part that exists. */
  parts: Partial<Record<Part, string>>
}

/** Returns the versions of the sections, newest first, without `Unreleased`. */
export function releasedVersions(changelog: string): string[] {
  return [...changelog.matchAll(/^## (.+)$/gm)].map(([, version = '']) => version).filter((version) => version !== 'Unreleased')
}

/**
 * Returns the section of a version. Throws if the section is missing or empty, or if it has an unknown
 * part. A section `Unreleased` also throws, because its changes would be missing in the release.
 */
export function readSection(changelog: string, version: string): Section {
  const sections = changelog.split(/^## /m).slice(1)
  const [unreleased] = sections.filter((text) => /^Unreleased\n/.test(text))
  if (unreleased !== undefined)
    throw new Error(`CHANGELOG.md has a section "Unreleased": run "npm run set-version -- ${version}" and commit the result`)
  const text = sections.find((section) => section.startsWith(`${version}\n`))
  if (text === undefined) throw new Error(`CHANGELOG.md has no section "## ${version}": describe the changes of the release in it`)
  const [summary = '', ...parts] = text.slice(version.length + 1).split(/^### /m)
  const section: Section = { version, summary: summary.trim(), parts: {} }
  for (const part of parts) {
    const end = part.indexOf('\n')
    const name = PARTS.find((known) => known === part.slice(0, end).trim())
    if (name === undefined)
      throw new Error(`CHANGELOG.md: "${part.slice(0, end)}" in ${version} is an unknown part; known are ${PARTS.join(', ')}`)
    section.parts[name] = part.slice(end).trim()
  }
  if (Object.values(section.parts).every((part) => part === ''))
    throw new Error(`CHANGELOG.md: the section of ${version} is empty: describe the changes of the release in it`)
  return section
}

/** Returns the changes of a section for Artifact Hub, which has one kind and one plain line for each. */
export function listChanges({ parts }: Section): { kind: string; description: string }[] {
  const kinds = { Added: 'added', Changed: 'changed', Fixed: 'fixed', Security: 'security' } as const
  return Object.entries(kinds).flatMap(([part, kind]) =>
    listItems(parts[part as Part] ?? '').map((item) => ({ kind, description: toPlainLine(item) })),
  )
}

/** Returns the items of the lists in Markdown, with their continuation lines. */
function listItems(markdown: string): string[] {
  return markdown
    .split(/^- /m)
    .slice(1)
    .map((item) => item.split(/\n(?=\S)/)[0] ?? '')
}

function toPlainLine(markdown: string): string {
  return markdown
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll('**', '')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

/**
 * Returns the notes of a release as Markdown: how to upgrade first, then the changes, and the digests
 * of the images.
 */
export function renderNotes(section: Section, images: Readonly<Record<string, string>>): string {
  const { version, summary, parts } = section
  const upgrade = parts.Upgrade ?? 'This version requires no manual step. Make a backup, and follow `docs/operate/upgrade.md`.'
  const rest = (['Security', 'Added', 'Changed', 'Fixed'] as const).flatMap((part) =>
    parts[part] === undefined ? [] : [`## ${part}\n\n${parts[part]}`],
  )
  const rows = Object.entries(images).map(([name, digest]) => `| ${name} | \`${digest}\` |`)
  return `${[
    `# Vitascope ${version}`,
    ...(summary === '' ? [] : [summary]),
    `## Upgrade\n\n${upgrade}`,
    ...rest,
    ...(rows.length === 0 ? [] : [`## Digests\n\n| artefact | digest |\n|---|---|\n${rows.join('\n')}`]),
  ].join('\n\n')}\n`
}
