import { cpSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseDocument, stringify } from 'yaml'
import { root } from '../lib/run-command.ts'
import type { ReleaseImage } from './images.ts'
import type { Programs } from './programs.ts'
import { run } from './run.ts'

export interface ChartOptions {
  programs: Programs
  /** Folder of temporary files. */
  folder: string
  /** Folder of the packaged chart. */
  out: string
  version: string
  images: readonly Pick<ReleaseImage, 'name' | 'digest'>[]
  /** Prefix of the names of images, such as `registry.example.org/vitascope`. */
  repository: string
  changes: readonly { kind: string; description: string }[]
  /** Public addresses of the repository and of an icon. */
  source: string | undefined
  icon: string | undefined
  /** Time of the commit, which is the time of all files. */
  time: Date
}

/** Media types of Helm. */
const CONFIG_TYPE = 'application/vnd.cncf.helm.config.v1+json'
const CONTENT_TYPE = 'application/vnd.cncf.helm.chart.content.v1.tar+gzip'
/** Keys of values.yaml with the settings of an image. */
const VALUE_KEYS = { server: 'image', encoding: 'encodingImage' } as const

/**
 * Packages the chart with the version, the images by digest in its values, and annotations of Artifact
 * Hub. Returns the file. Equal arguments result in equal bytes.
 */
export async function packageChart(options: ChartOptions): Promise<string> {
  const { programs, folder, out, version, time } = options
  const chart = join(folder, 'chart/vitascope')
  mkdirSync(out, { recursive: true })
  cpSync(join(root, 'helm/vitascope'), chart, { recursive: true })
  writeFileSync(join(chart, 'values.yaml'), renderValues(readFileSync(join(chart, 'values.yaml'), 'utf8'), options))
  writeFileSync(join(chart, 'Chart.yaml'), renderChart(readFileSync(join(chart, 'Chart.yaml'), 'utf8'), options))
  for (const entry of readdirSync(chart, { recursive: true, encoding: 'utf8' })) utimesSync(join(chart, entry), time, time)
  await run(programs.helm, ['lint', '--quiet', chart])
  await run(programs.helm, ['package', chart, '--version', version, '--app-version', version, '--destination', out])
  return join(out, `vitascope-${version}.tgz`)
}

/** Returns values.yaml with repositories and digests of the images. Comments remain. */
export function renderValues(text: string, { images, repository }: Pick<ChartOptions, 'images' | 'repository'>): string {
  let rendered = text
  for (const { name, digest } of images) {
    const key = VALUE_KEYS[name]
    const block = new RegExp(`^(${key}:\\n(?:  .*\\n)*?)  repository: .*\\n((?:  .*\\n)*?)  digest: .*\\n`, 'm')
    if (!block.test(rendered)) throw new Error(`values.yaml has no ${key}.repository and ${key}.digest`)
    rendered = rendered.replace(block, `$1  repository: ${repository}/${name}\n$2  digest: ${digest}\n`)
  }
  return rendered
}

/** Returns Chart.yaml with annotations of Artifact Hub and the links that the options contain. */
export function renderChart(text: string, { version, images, repository, changes, source, icon }: Omit<ChartOptions, 'programs'>): string {
  const document = parseDocument(text)
  document.set('version', version)
  document.set('appVersion', version)
  if (source !== undefined) {
    document.set('home', source)
    document.set('sources', [source])
  }
  if (icon !== undefined) document.set('icon', icon)
  const listed = images.map(({ name, digest }) => ({
    name,
    image: `${repository}/${name}:${version}@${digest}`,
    platforms: ['linux/amd64', 'linux/arm64'],
  }))
  const annotations = {
    'artifacthub.io/license': 'Apache-2.0',
    'artifacthub.io/prerelease': `${version.includes('-')}`,
    'artifacthub.io/containsSecurityUpdates': `${changes.some(({ kind }) => kind === 'security')}`,
    'artifacthub.io/images': stringify(listed),
    'artifacthub.io/changes': stringify(changes, { lineWidth: 0 }),
    ...(source !== undefined && { 'artifacthub.io/links': stringify([{ name: 'source', url: source }]) }),
  }
  for (const [name, value] of Object.entries(annotations)) document.setIn(['annotations', name], value)
  return document.toString({ lineWidth: 0 })
}

/** Pushes the packaged chart to a registry on loopback as an OCI artefact of Helm. Returns its digest. */
export async function pushChart(options: ChartOptions, file: string, registry: string): Promise<string> {
  const { programs, version, time, folder } = options
  const config = join(folder, 'chart-config.json')
  const chart = parseDocument(renderChart(readFileSync(join(root, 'helm/vitascope/Chart.yaml'), 'utf8'), options)).toJS() as {
    description: string
  }
  writeFileSync(config, JSON.stringify(chart))
  const reference = `${registry}/chart:${version}`
  const name = file.slice(file.lastIndexOf('/') + 1)
  const annotations = {
    'org.opencontainers.image.title': 'vitascope',
    'org.opencontainers.image.version': version,
    'org.opencontainers.image.description': chart.description,
    'org.opencontainers.image.created': time.toISOString(),
  }
  await run(
    programs.oras,
    [
      'push',
      '--plain-http',
      '--no-tty',
      `--config=${config}:${CONFIG_TYPE}`,
      ...Object.entries(annotations).flatMap(([key, value]) => ['--annotation', `${key}=${value}`]),
      reference,
      `${name}:${CONTENT_TYPE}`,
    ],
    {},
    options.out,
  )
  return run(programs.crane, ['digest', reference])
}
