// Generates helm/vitascope/values.schema.json and the table of its README.md from values.yaml, and
// copies the configuration of nginx from deploy/nginx, because a chart contains only its own files.
// With --check it writes nothing and lists the differences.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isMap, isScalar, type Pair, parseDocument, type YAMLMap } from 'yaml'
import { chartFormats, commonFormat } from './chart-formats.ts'
import { isProgram, root } from './lib/run-command.ts'

/** A setting of the chart, or a group of settings. */
export interface ChartSetting {
  /** Dotted name: `tls.mode`. */
  name: string
  /** The comment above it. */
  comment: string
  /** Additional schema, from a comment line that starts with `@`. */
  note: Record<string, unknown>
  /** Value in values.yaml. Undefined for a group. */
  value?: unknown
  /** Settings of a group. */
  settings?: ChartSetting[]
}

const chart = join(root, 'helm/vitascope')
const MARKERS = { begin: '<!-- settings: generated from values.yaml by npm run generate -->', end: '<!-- end of settings -->' }

/** Returns the files that are generated from values.yaml, with their contents. */
export function chartDocuments(values: string, readme: string): Record<string, string> {
  const settings = readSettings(values)
  const [before, after] = [readme.indexOf(MARKERS.begin), readme.indexOf(MARKERS.end)]
  if (before < 0 || after < before)
    throw new Error(`helm/vitascope/README.md has no markers for the settings: ${MARKERS.begin} … ${MARKERS.end}`)
  return {
    'values.schema.json': `${JSON.stringify(buildSchema(settings), null, 2)}\n`,
    'README.md': `${readme.slice(0, before + MARKERS.begin.length)}\n\n${renderTable(settings)}\n${readme.slice(after)}`,
  }
}

/** Returns the settings of values.yaml in order, with their comments. */
export function readSettings(values: string): ChartSetting[] {
  const document = parseDocument(values)
  if (document.errors.length > 0 || !isMap(document.contents)) throw new Error(`values.yaml: ${document.errors[0]?.message ?? 'not a map'}`)
  return parseSettings(document.contents, '')
}

function parseSettings(map: YAMLMap, prefix: string): ChartSetting[] {
  return map.items.map((pair: Pair, index) => {
    const key = isScalar(pair.key) ? pair.key : undefined
    const name = `${prefix}${key?.value}`
    // The parser attaches the comment above the first key of a map to the map.
    const text = key?.commentBefore ?? (index === 0 ? map.commentBefore : undefined) ?? ''
    const { comment, note } = readComment(text, name)
    const isGroup =
      isMap(pair.value) && pair.value.items.length > 0 && !('type' in note || 'additionalProperties' in note || '$ref' in note)
    if (isGroup) return { name, comment, note, settings: parseSettings(pair.value as YAMLMap, `${name}.`) }
    return { name, comment, note, value: toPlain(pair.value) }
  })
}

/**
 * Returns the comment directly above a setting. A blank line separates it from general comments.
 */
function readComment(text: string, name: string): { comment: string; note: Record<string, unknown> } {
  const lines = (text.split(/\n\s*\n/).at(-1) ?? '').split('\n').map((line) => line.trim())
  const note = lines.find((line) => line.startsWith('@ '))
  const comment = lines.filter((line) => !line.startsWith('@ ')).join(' ')
  try {
    return { comment, note: note === undefined ? {} : (JSON.parse(note.slice(2)) as Record<string, unknown>) }
  } catch (error) {
    throw new Error(`values.yaml, comment of ${name}: ${(error as Error).message}`)
  }
}

function toPlain(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'toJSON' in value && typeof value.toJSON === 'function' ? value.toJSON() : value
}

function buildSchema(settings: readonly ChartSetting[]): object {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Settings of the chart vitascope',
    type: 'object',
    additionalProperties: false,
    required: settings.map(({ name }) => name),
    properties: { global: { type: 'object', description: 'Of a chart above this one; not read here.' }, ...buildProperties(settings) },
    $defs: chartFormats,
  }
}

function buildProperties(settings: readonly ChartSetting[]): Record<string, object> {
  return Object.fromEntries(
    settings.map(({ name, comment, note, value, settings: nested }) => {
      const described = comment === '' ? {} : { description: comment }
      const common = commonFormat(name)
      const form = nested
        ? {
            type: 'object',
            additionalProperties: false,
            required: nested.map((setting) => lastPart(setting.name)),
            properties: buildProperties(nested),
          }
        : '$ref' in note || common
          ? { ...common }
          : { type: toJsonType(value, name) }
      return [lastPart(name), { ...described, ...form, ...note }]
    }),
  )
}

function lastPart(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1)
}

function toJsonType(value: unknown, name: string): string {
  if (Array.isArray(value)) return 'array'
  if (Number.isInteger(value)) return 'integer'
  if (['string', 'number', 'boolean', 'object'].includes(typeof value) && value !== null) return typeof value
  throw new Error(`values.yaml: ${name} has no default from which its type follows`)
}

function renderTable(settings: readonly ChartSetting[]): string {
  const rows = settings.flatMap(renderRows)
  return ['| setting | default | |', '|---|---|---|', ...rows, ''].join('\n')
}

function renderRows({ name, comment, note, value, settings }: ChartSetting): string[] {
  const text = 'enum' in note && Array.isArray(note['enum']) ? `${comment} One of ${note['enum'].join(', ')}.`.trim() : comment
  const cell = (text: string) => text.replaceAll('|', '\\|')
  if (settings) return [...(comment === '' ? [] : [`| **\`${name}\`** | | ${cell(comment)} |`]), ...settings.flatMap(renderRows)]
  return [`| \`${name}\` | ${value === '' ? '' : `\`${cell(JSON.stringify(value))}\``} | ${cell(text)} |`]
}

/** Returns the names of generated files that do not match values.yaml or deploy/nginx. */
export function chartDrift(): string[] {
  return Object.entries(generatedFiles()).flatMap(([name, text]) => (fileText(name) === text ? [] : [name]))
}

export function writeChartDocuments(): void {
  mkdirSync(join(chart, 'nginx'), { recursive: true })
  for (const [name, text] of Object.entries(generatedFiles())) if (fileText(name) !== text) writeFileSync(join(chart, name), text)
}

/** Returns all generated files of the chart with their contents. */
function generatedFiles(): Record<string, string> {
  const nginx = join(root, 'deploy/nginx')
  const copies = readdirSync(nginx).map((name) => [`nginx/${name}`, readFileSync(join(nginx, name), 'utf8')] as const)
  return { ...chartDocuments(fileText('values.yaml'), fileText('README.md')), ...Object.fromEntries(copies) }
}

function fileText(name: string): string {
  try {
    return readFileSync(join(chart, name), 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}

if (isProgram(import.meta.url)) {
  if (process.argv.includes('--check')) {
    const drift = chartDrift()
    for (const name of drift) console.error(`helm/vitascope/${name} does not match values.yaml or deploy/nginx: npm run generate`)
    process.exitCode = drift.length > 0 ? 1 : 0
  } else {
    writeChartDocuments()
  }
}
