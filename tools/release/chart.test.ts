import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { parse } from 'yaml'
import { root } from '../lib/run-command.ts'
import { renderChart, renderValues } from './chart.ts'

const read = (name: string) => readFileSync(join(root, 'helm/vitascope', name), 'utf8')
const images = [
  { name: 'server', digest: `sha256:${'1'.repeat(64)}` },
  { name: 'encoding', digest: `sha256:${'2'.repeat(64)}` },
] as const
const repository = 'registry.example.org/video'

test('the values of a release differ from the chart by the names and digests of the images only', () => {
  const before = parse(read('values.yaml')) as Record<string, object>
  const text = renderValues(read('values.yaml'), { images, repository })
  expect(parse(text)).toEqual({
    ...before,
    image: { ...before['image'], repository: `${repository}/server`, digest: images[0].digest },
    encodingImage: { ...before['encodingImage'], repository: `${repository}/encoding`, digest: images[1].digest },
  })
  expect(text.split('\n')).toHaveLength(read('values.yaml').split('\n').length)
})

test('values without settings of an image are rejected', () => {
  expect(() => renderValues('image:\n  tag: ""\n', { images, repository })).toThrow('values.yaml has no image.repository')
})

test('the chart of a release has its version, and annotations of Artifact Hub', () => {
  const options = {
    folder: '/unused',
    out: '/unused',
    version: '2.0.0-rc.1',
    images,
    repository,
    changes: [{ kind: 'security', description: 'Keys: they expire.' }],
    source: 'https://git.example.org/video',
    icon: undefined,
    time: new Date(0),
  }
  const { annotations, ...chart } = parse(renderChart(read('Chart.yaml'), options)) as { annotations: Record<string, string> }
  expect(chart).toMatchObject({ version: '2.0.0-rc.1', appVersion: '2.0.0-rc.1', home: options.source, sources: [options.source] })
  expect(annotations).toMatchObject({
    'artifacthub.io/license': 'Apache-2.0',
    'artifacthub.io/prerelease': 'true',
    'artifacthub.io/containsSecurityUpdates': 'true',
  })
  expect(parse(annotations['artifacthub.io/changes'] ?? '')).toEqual(options.changes)
  expect(parse(annotations['artifacthub.io/images'] ?? '')).toEqual(
    images.map(({ name, digest }) => ({
      name,
      image: `${repository}/${name}:2.0.0-rc.1@${digest}`,
      platforms: ['linux/amd64', 'linux/arm64'],
    })),
  )
})

test('the chart has only links that were passed', () => {
  const options = {
    folder: '',
    out: '',
    version: '1.0.0',
    images,
    repository,
    changes: [],
    source: undefined,
    icon: undefined,
    time: new Date(0),
  }
  const chart = parse(renderChart(read('Chart.yaml'), options)) as Record<string, unknown>
  expect([chart['home'], chart['sources'], chart['icon'], chart['maintainers']]).toEqual([undefined, undefined, undefined, undefined])
})
