// Generates the tables of docs/reference/settings.md from the settings that the processes declare. Each table is
// between two marks, of which the first names its settings. With --check it writes nothing and fails if the page is
// out of date.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DEFAULT_LIMITS, LIMIT_DESCRIPTIONS } from '@vitascope/rate-limit'
import { readConfig as readAnalyticsConfig } from '../apps/analytics/src/config.ts'
import { readAuthConfig } from '../apps/auth/src/config.ts'
import { readConfig as readCatalogueConfig } from '../apps/catalogue/src/config.ts'
import { readConfig as readCollaborationConfig } from '../apps/collaboration/src/config.ts'
import { readDeliveryConfig } from '../apps/delivery/src/config.ts'
import { readConfig as readEncodingConfig } from '../apps/encoding/src/config.ts'
import { readWorkerConfig } from '../apps/encoding/src/worker/config.ts'
import { readGatewayConfig } from '../apps/gateway/src/config.ts'
import { ConfigError, recordSettings, type SettingDeclaration } from '../libs/config/src/index.ts'
import { readPlatformConfig } from '../libs/platform/src/index.ts'
import { readProcessSettings } from '../libs/process/src/index.ts'
import { isProgram, root } from './lib/run-command.ts'

const FILE = join(root, 'docs/reference/settings.md')
const TABLE = /(<!-- settings: (\S[^\n]*) -->\n).*?(<!-- end of settings -->)/gs
const LIST = /(<!-- settings of each service -->\n).*?(<!-- end of settings -->)/s
const LIMITS = /(<!-- rate limits -->\n).*?(<!-- end of rate limits -->)/s
const NPM_START = '`npm start`'
const SERVICES: Readonly<Record<string, (env: NodeJS.ProcessEnv) => unknown>> = {
  auth: readAuthConfig,
  catalogue: readCatalogueConfig,
  encoding: readEncodingConfig,
  worker: readWorkerConfig,
  delivery: readDeliveryConfig,
  collaboration: readCollaborationConfig,
  analytics: readAnalyticsConfig,
  gateway: readGatewayConfig,
}
/** Environments that together make every process read all its settings. None needs to be valid. */
const ENVIRONMENTS: readonly NodeJS.ProcessEnv[] = [
  {},
  { VITASCOPE_S3_BUCKET: 'videos', VITASCOPE_S3_ENDPOINT: 'http://localhost', VITASCOPE_DELIVERY_S3: 'redirect' },
  { VITASCOPE_EXECUTOR: 'kubernetes', VITASCOPE_WORKER_RUN: 'run' },
]

/** A row of a table. */
export interface Setting {
  name: string
  /** The processes that read the setting, each with its declaration. `npm start` may pass it on without one. */
  readers: { process: string; declaration?: SettingDeclaration }[]
}

/** Returns the settings of all processes. */
function allSettings(): Setting[] {
  const settings = new Map<string, Setting>()
  const processes = Object.entries(SERVICES).map(([name, read]) => [name, [read, readProcessSettings]] as const)
  for (const [process, reads] of [[NPM_START, [readPlatformConfig]] as const, ...processes]) {
    const records = reads.flatMap((read) => ENVIRONMENTS.map((env) => recordSettings(() => ignoreProblems(() => read(env)))))
    const declarations = new Map(records.flatMap((record) => record.declarations).map((setting) => [setting.name, setting]))
    for (const name of new Set(records.flatMap((record) => [...record.names]))) {
      const declaration = declarations.get(name)
      if (declaration === undefined && process !== NPM_START) continue
      const rowName = toFamilyName(name)
      const setting = settings.get(rowName) ?? { name: rowName, readers: [] }
      if (!setting.readers.some((reader) => reader.process === process))
        setting.readers.push({ process, ...(declaration && { declaration: { ...declaration, name: rowName } }) })
      settings.set(rowName, setting)
    }
  }
  return [...settings.values()].filter(({ readers }) => readers.some(({ declaration }) => declaration !== undefined))
}

function ignoreProblems(read: () => unknown): void {
  try {
    read()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
  }
}

/** Returns the name with `<SERVICE>` in place of the service for settings that each service has with its own name. */
function toFamilyName(name: string): string {
  const services = Object.keys(SERVICES).join('|').toUpperCase()
  return name.replace(
    new RegExp(`^VITASCOPE_(?:${services})_(LISTEN|HEALTH_LISTEN|METRICS_LISTEN|DATABASE_(?:DIRECT_)?URL)$`),
    'VITASCOPE_<SERVICE>_$1',
  )
}

/** Returns the page with new tables. Throws if a setting is not in exactly one of them. */
export function settingsReference(page: string, settings: readonly Setting[]): string {
  const unlisted = new Map(settings.map((setting) => [setting.name, setting]))
  const text = page.replace(TABLE, (_, begin: string, names: string, end: string) => {
    const rows = names.split(/\s+/).map((name) => {
      const setting = unlisted.get(name)
      if (setting === undefined) throw new Error(`docs/reference/settings.md: no process declares ${name}, or it is listed twice`)
      unlisted.delete(name)
      return renderRow(setting)
    })
    return `${begin}\n| setting | default | values | read by | meaning |\n|---|---|---|---|---|\n${rows.join('\n')}\n\n${end}`
  })
  if (unlisted.size > 0) throw new Error(`docs/reference/settings.md: no table lists ${[...unlisted.keys()].join(', ')}`)
  return text
    .replace(LIST, (_, begin: string, end: string) => `${begin}\n${serviceTable(settings)}\n${end}`)
    .replace(LIMITS, (_, begin: string, end: string) => `${begin}\n${limitsTable()}\n${end}`)
}

/** Returns a table of the fields of `VITASCOPE_LIMITS`. */
function limitsTable(): string {
  const rows = Object.entries(DEFAULT_LIMITS).map(([name, value]) => {
    const formatted = typeof value === 'number' ? value.toLocaleString('en-US') : `\`${JSON.stringify(value)}\``
    return `| \`${name}\` | ${formatted} | ${LIMIT_DESCRIPTIONS[name as keyof typeof LIMIT_DESCRIPTIONS]} |\n`
  })
  return `| name | default | limit |\n|---|---|---|\n${rows.join('')}`
}

/** Returns a table of the services with the names of the settings that they require. */
function serviceTable(settings: readonly Setting[]): string {
  const rows = Object.keys(SERVICES).map((service) => {
    const names = settings.flatMap(({ name, readers }) => {
      const declaration = readers.find(({ process }) => process === service)?.declaration
      const [, condition] = /^required(.*)$/.exec(declaration ? formatDefault(declaration) : '') ?? []
      return condition === undefined ? [] : [`\`${name}\`${condition === '' ? '' : ` (${condition.trim()})`}`]
    })
    return `| ${service} | ${names.join(', ')} |\n`
  })
  return `| service | required settings |\n|---|---|\n${rows.join('')}`
}

function renderRow({ name, readers }: Setting): string {
  const declared = readers.flatMap(({ process, declaration }) => (declaration ? [{ process, declaration }] : []))
  const descriptions = new Set(declared.map(({ declaration }) => declaration.description))
  if (descriptions.size !== 1) throw new Error(`${name} has several descriptions: ${[...descriptions].join(' / ')}`)
  const cell = (show: (declaration: SettingDeclaration) => string) => differences(declared, show)
  const cells = [
    `\`${name}\``,
    cell(formatDefault),
    cell(formatValues),
    formatReaders(readers.map(({ process }) => process)),
    [...descriptions][0] ?? '',
  ]
  return `| ${cells.map((text) => text.replaceAll('|', '\\|')).join(' | ')} |`
}

/** Returns the text of the last process, and after it each different text with the name of its process. */
function differences(
  declared: readonly { process: string; declaration: SettingDeclaration }[],
  show: (setting: SettingDeclaration) => string,
): string {
  // `npm start` is the first process, so the last one is usually a service.
  const texts = declared.toReversed().map(({ process, declaration }) => ({ process, text: show(declaration) }))
  const usual = texts[0]?.text
  return [usual, ...texts.flatMap(({ process, text }) => (text === usual ? [] : [`${process}: ${text}`]))].join('; ')
}

function formatDefault({ name, fallback, defaultText: text }: SettingDeclaration): string {
  if (text !== undefined) return text
  if (fallback === undefined) return 'required'
  if (fallback === null) return 'none'
  return typeof fallback === 'number' ? amount(name, fallback) : `\`${fallback}\``
}

function formatValues({ name, values }: SettingDeclaration): string {
  if (typeof values === 'object' && 'min' in values) {
    const { min, max } = values
    return max === Number.MAX_SAFE_INTEGER ? `from ${amount(name, min)}` : `${amount(name, min)} to ${amount(name, max)}`
  }
  if (typeof values === 'object') return values.map((word) => `\`${word}\``).join(', ')
  if (values === 'HOST:PORT' || name.endsWith('_LISTEN')) return '`HOST:PORT`'
  if (values === 'secret') return 'text, or `_FILE`'
  if (values === 'list') return 'list'
  if (values === 'text' && /_(DIR|FILE)$/.test(name)) return name.endsWith('_DIR') ? 'folder' : 'file'
  return values
}

/** Returns a number, and in parentheses the same in a larger unit where it is a whole number of them. */
function amount(name: string, value: number): string {
  const units: [RegExp, [number, string][]][] = [
    [
      /_BYTES(_|$)/,
      [
        [2 ** 40, 'TiB'],
        [2 ** 30, 'GiB'],
        [2 ** 20, 'MiB'],
        [2 ** 10, 'KiB'],
      ],
    ],
    [
      /_SECONDS$/,
      [
        [86_400, 'd'],
        [3_600, 'h'],
        [60, 'min'],
      ],
    ],
    [
      /_MS$/,
      [
        [60_000, 'min'],
        [1_000, 's'],
      ],
    ],
  ]
  const scale = units.find(([pattern]) => pattern.test(name))?.[1] ?? []
  const unit = scale.find(([size]) => value > 0 && value % size === 0)
  const plain = /PORT$/.test(name) ? String(value) : value.toLocaleString('en-US')
  return unit === undefined ? plain : `${plain} (${(value / unit[0]).toLocaleString('en-US')} ${unit[1]})`
}

function formatReaders(processes: readonly string[]): string {
  const services = Object.keys(SERVICES).filter((service) => processes.includes(service))
  const all = services.length === Object.keys(SERVICES).length
  return [...(all ? ['all'] : services), ...(processes.includes(NPM_START) ? [NPM_START] : [])].join(', ')
}

if (isProgram(import.meta.url)) {
  const page = readFileSync(FILE, 'utf8')
  const current = settingsReference(page, allSettings())
  if (!process.argv.includes('--check')) writeFileSync(FILE, current)
  else if (page !== current) {
    console.error('docs/reference/settings.md does not match the declared settings: npm run generate')
    process.exitCode = 1
  }
}
