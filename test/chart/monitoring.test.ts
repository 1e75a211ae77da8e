import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { promtoolPath } from '@vitascope/testing'
import { chart, describeChart, find, type Manifest, render } from './support/chart.ts'

const root = join(chart, '../..')

/** Returns every metric name in the code of the services. */
function metricNames(): Set<string> {
  const files = ['apps', 'libs'].flatMap((kind) =>
    readdirSync(join(root, kind)).flatMap((name) =>
      readdirSync(join(root, kind, name, 'src'), { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.includes('gen/'))
        .map((file) => join(root, kind, name, 'src', file)),
    ),
  )
  return new Set(files.flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/'(vitascope_[a-z_]+)'/g)].map(([, name = '']) => name)))
}

const listMetrics = (text: string) =>
  [...text.matchAll(/\b(vitascope_[a-z_]+?)(?:_count|_bucket|_sum)?(?=[{[)\s]|$)/gm)].map(([, name = '']) => name)

interface Dashboard {
  title: string
  links: unknown[]
  panels: {
    id: number
    type: string
    title: string
    description?: string
    targets?: { expr: string; legendFormat: string }[]
    gridPos: { x: number; y: number; w: number; h: number }
    fieldConfig?: { defaults: { unit: string } }
  }[]
}

describeChart('monitoring', () => {
  let manifests: Manifest[] = []
  const production = () => {
    if (manifests.length === 0) manifests = render(['production'])
    return manifests
  }

  test('alerts and dashboards only use metrics that the services export', () => {
    const knownMetrics = metricNames()
    const texts = [
      readFileSync(join(chart, 'monitoring/rules.yaml'), 'utf8'),
      readFileSync(join(chart, 'monitoring/dashboards.yaml'), 'utf8'),
    ]
    const usedMetrics = texts.flatMap(listMetrics)
    expect(usedMetrics.length).toBeGreaterThan(30)
    expect([...new Set(usedMetrics)].filter((name) => !knownMetrics.has(name))).toEqual([])
  })

  const listRules = (from: readonly Manifest[]) => {
    const { groups } = find(from, 'PrometheusRule', 'monitoring').spec as {
      groups: {
        name: string
        rules: { alert: string; expr: string; labels: { severity: string }; annotations: Record<string, string> }[]
      }[]
    }
    // The first group has the recorded series.
    return groups.filter(({ name }) => name !== 'vitascope.objectives').flatMap((group) => group.rules)
  }

  test('each alert has a summary, a description and a runbook, and is limited to this namespace', () => {
    const rules = listRules(production())
    expect(rules.length).toBeGreaterThan(10)
    for (const { alert, expr, labels, annotations } of rules) {
      const isWatchdog = alert === 'VitascopeWatchdog'
      expect([alert, expr.includes('namespace="vitascope"'), expr.includes('NAMESPACE')]).toEqual([alert, !isWatchdog, false])
      expect(isWatchdog ? ['none'] : ['warning', 'critical']).toContain(labels.severity)
      expect([alert, Object.keys(annotations)]).toEqual([alert, ['description', 'runbook_url', 'summary']])
      expect(annotations['runbook_url']).toBe(`https://video.example.org/docs/operate/alerts#${alert.toLowerCase()}`)
    }
  })

  test('the page of runbooks has one section for each alert, and its URL is a setting', () => {
    const page = readFileSync(join(root, 'docs/operate/alerts.md'), 'utf8')
    const alerts = listRules(production()).map(({ alert }) => alert)
    expect([...page.matchAll(/^## (Vitascope\w+)$/gm)].map(([, name]) => name)).toEqual(alerts)
    // The last section is that of the watchdog, which has nothing to look at.
    for (const section of page.split(/^## Vitascope/m).slice(1, -1))
      expect([section.split('\n', 1)[0], /^ {4}(logs|query|kubectl|for|select) /m.test(section)]).toEqual([section.split('\n', 1)[0], true])
    const [rule] = listRules(render(['production'], { monitoring: { rules: { runbooks: 'https://wiki.example.org/vitascope' } } }))
    expect(rule?.annotations['runbook_url']).toBe('https://wiki.example.org/vitascope#vitascopeanswerswithfaults')
  })

  test.each([{}, { fullnameOverride: 'video' }])('alerts and panels use the scrape job name of the release: %j', (values) => {
    const all = render(['production'], values)
    const { name } = find(all, 'Service', 'metrics').metadata
    const texts = all.filter(({ kind, metadata }) => kind === 'PrometheusRule' || metadata.name.endsWith('-dashboard'))
    const jobs = JSON.stringify(texts).match(/\bjob=[^,}]+/g) ?? []
    expect(jobs.length).toBeGreaterThan(2)
    for (const job of jobs) expect(job.replaceAll(/[\\"]/g, '')).toBe(`job=${name}`)
  })

  test('alerts on errors and latency of the API exclude media files', () => {
    const delivery = readFileSync(join(root, 'apps/gateway/src/server/proxy/delivery-proxy.ts'), 'utf8')
    const [, template = ''] = /context\.template = '(.+)'/.exec(delivery) ?? []
    const { groups } = find(production(), 'PrometheusRule', 'monitoring').spec as {
      groups: { rules: { alert?: string; expr: string; labels: { objective?: string } }[] }[]
    }
    const selectors = groups
      .flatMap(({ rules }) => rules)
      .flatMap(({ alert, expr, labels: { objective = alert } }) =>
        (expr.match(/vitascope_http_request_duration_seconds\w+\{[^}]*\}/g) ?? []).map((selector) => ({ objective, selector })),
      )
    expect(new Set(selectors.map(({ objective }) => objective))).toEqual(
      new Set(['api', 'reads', 'VitascopeAnswersWithFaults', 'VitascopeAnswersSlowly']),
    )
    for (const one of selectors) expect(one).toMatchObject({ selector: expect.stringContaining(`path!="${template}"`) })
  })

  test('chunks that wait in a Kueue queue do not trigger the alert on missing workers', () => {
    const waits = (queue: string) => {
      const values = { monitoring: { rules: { enabled: true } }, encoding: { executor: { kubernetes: { queue } } } }
      const { groups } = find(render(['jobs'], values), 'PrometheusRule', 'monitoring').spec as {
        groups: { rules: { alert: string; expr: string }[] }[]
      }
      return groups.flatMap(({ rules }) => rules).find(({ alert }) => alert === 'VitascopeWorkWaits')?.expr
    }
    expect(waits('videos')).toContain('kind!~"fetch.*|encode",state="waiting"')
    expect(waits('')).toContain('kind!~"fetch.*",state="waiting"')
  })

  test('dashboards of two releases are distinguishable in one Grafana', () => {
    const dashboards = ['eu', 'us'].flatMap((namespace) =>
      render(['production'], {}, ['--namespace', namespace])
        .filter(({ metadata }) => metadata.name.endsWith('-dashboard'))
        .flatMap(({ data = {} }) =>
          Object.entries(data).map(([file, text]) => ({ file, ...(JSON.parse(text) as { uid: string; title: string }) })),
        ),
    )
    expect(dashboards).toHaveLength(8)
    for (const key of ['file', 'uid', 'title'] as const) expect(new Set(dashboards.map((one) => one[key])).size).toBe(8)
    for (const { uid } of dashboards) expect(uid.length).toBeLessThanOrEqual(40)
  })

  test('the metrics Service selects the pods of all components', () => {
    const { selector } = find(production(), 'Service', 'metrics').spec as { selector: Record<string, string> }
    const pods = production().filter(({ kind }) => kind === 'Deployment' || kind === 'StatefulSet')
    for (const { metadata, spec } of pods) {
      const { template } = spec as {
        template: { metadata: { labels: Record<string, string> }; spec: { containers: { ports: { name: string }[] }[] } }
      }
      expect([metadata.name, template.metadata.labels]).toEqual([metadata.name, expect.objectContaining(selector)])
      expect(template.spec.containers[0]?.ports.map(({ name }) => name)).toContain('metrics')
    }
    expect(pods).toHaveLength(9)
  })

  const listDashboards = (): Dashboard[] =>
    production()
      .filter(({ kind, metadata }) => kind === 'ConfigMap' && metadata.labels?.['grafana_dashboard'] === '1')
      .map(({ data = {} }) => JSON.parse(Object.values(data)[0] ?? '') as Dashboard)

  test('dashboards are in the format of Grafana, and each panel has a description, a unit and queries of this release', () => {
    const dashboards = listDashboards()
    expect(dashboards).toHaveLength(4)
    for (const { title, panels, links } of dashboards) {
      expect(title).toMatch(/^Vitascope/)
      expect(links).toEqual([expect.objectContaining({ type: 'dashboards', tags: [expect.stringMatching(/^videos-/)] })])
      expect(panels[0]?.type).toBe('row')
      expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
      const queried = panels.filter(({ type }) => type !== 'row')
      expect(queried.length).toBeGreaterThan(8)
      for (const { title: name, description = '', targets = [], fieldConfig } of queried) {
        expect([name, description]).toEqual([name, expect.stringMatching(/^[A-Z0-9].*[.]$/)])
        expect([name, fieldConfig?.defaults.unit]).toEqual([name, expect.stringMatching(/^[A-Za-z]+$/)])
        expect([name, targets.length > 0]).toEqual([name, true])
        for (const { expr } of targets) expect(expr).toContain('namespace="vitascope"')
      }
    }
  })

  const listExpressions = () =>
    listDashboards().flatMap(({ panels }) => panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)))

  test('panels with durations of calls exclude calls that wait for tasks or changes', () => {
    const proto = readFileSync(join(root, 'proto/vitascope/encoding/v1/work.proto'), 'utf8')
    const leases = [...proto.matchAll(/^ {2}rpc (Lease\w+)/gm)].map(([, method]) => `/vitascope.encoding.v1.WorkService/${method}`)
    expect(leases.length).toBeGreaterThan(1)
    const durations = listExpressions().filter((expr) => expr.includes('vitascope_grpc_call_duration_seconds_bucket'))
    expect(durations.length).toBeGreaterThan(1)
    for (const expr of durations) {
      const [, excluded = ''] = /method!~"([^"]+)"/.exec(expr) ?? []
      for (const method of [...leases, '/vitascope.auth.v1.ApiKeyService/WatchRevocations'])
        expect([expr, method, new RegExp(`^(?:${excluded})$`).test(method)]).toEqual([expr, method, true])
    }
  })

  test('ready targets are counted by component, which Prometheus reads from the labels of the pods', () => {
    const { podTargetLabels } = find(production(), 'ServiceMonitor', 'metrics').spec as { podTargetLabels: string[] }
    const [label = ''] = podTargetLabels.map((name) => name.replaceAll(/\W/g, '_'))
    const panel = listDashboards()
      .flatMap(({ panels }) => panels)
      .find(({ title }) => title === 'Ready targets')
    const expr = expect.stringContaining(`sum by (${label}) (up{`)
    expect(panel?.targets).toEqual([expect.objectContaining({ expr, legendFormat: `{{${label}}}` })])
  })

  test('panels of a dashboard do not overlap', () => {
    for (const { title, panels } of listDashboards())
      for (const [index, { gridPos: a }] of panels.entries())
        for (const { gridPos: b } of panels.slice(index + 1)) {
          const overlaps = a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h
          expect([title, a, b, overlaps, a.x + a.w <= 24]).toEqual([title, a, b, false, true])
        }
  })

  const testQueries = promtoolPath() === undefined ? test.skip : test
  testQueries('the queries of dashboards are valid for Prometheus', () => {
    const expressions = listExpressions()
    expect(expressions.length).toBeGreaterThan(50)
    const rules = expressions.map((expr, index) => ({ record: `panel:query${index}:any`, expr }))
    const folder = mkdtempSync(join(tmpdir(), 'vitascope-panels-'))
    try {
      writeFileSync(join(folder, 'rules.yaml'), JSON.stringify({ groups: [{ name: 'panels', rules }] }))
      const { status, stdout, stderr } = spawnSync(promtoolPath() ?? '', ['check', 'rules', 'rules.yaml'], {
        cwd: folder,
        encoding: 'utf8',
      })
      expect([status, stdout + stderr]).toEqual([0, expect.stringContaining('SUCCESS')])
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  test('monitoring objects are created only if enabled', () => {
    const kinds = render(['evaluation']).map(({ kind }) => kind)
    expect(kinds.filter((kind) => ['ServiceMonitor', 'PrometheusRule', 'ConfigMap'].includes(kind))).toEqual([])
  })
})
