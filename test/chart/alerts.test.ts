import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { promtoolPath } from '@vitascope/testing'
import { root } from '../../tools/lib/run-command.ts'
import { ALERT_CASES, type AlertCase } from './alert-cases.ts'
import { describeChart, find, render } from './support/chart.ts'

const promtool = promtoolPath() ?? ''
const describeAlerts = promtool === '' ? describe.skip : describeChart

describeAlerts('alerts', () => {
  let folder: string
  let groups: RuleGroup[]
  let alerts: string[]

  // JSON is YAML, too.
  const write = (name: string, value: unknown) => writeFileSync(join(folder, name), JSON.stringify(value))

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'vitascope-alerts-'))
    groups = (find(render(['production']), 'PrometheusRule', 'monitoring').spec as { groups: RuleGroup[] }).groups
    alerts = groups.flatMap(({ rules }) => rules.flatMap(({ alert }) => alert ?? []))
    write('all.yaml', { groups })
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const usesObjectives = (name: string) =>
    groups.some(({ rules }) => rules.some(({ alert, expr }) => alert === name && expr.includes('vitascope:')))
  const run = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(promtool, args, { cwd: folder, encoding: 'utf8' })
    return { status, output: stdout + stderr }
  }

  test('are valid for Prometheus', () => {
    expect(run('check', 'rules', 'all.yaml')).toEqual({ status: 0, output: expect.stringContaining('SUCCESS') })
  })

  test('have runbooks whose queries are valid and read existing metrics', () => {
    const page = readFileSync(join(root, 'docs/operate/alerts.md'), 'utf8')
    const queries = [...page.matchAll(/^ {4}query '([^']+)'$/gm)].map(([, expr = '']) => expr)
    expect(queries.length).toBeGreaterThan(30)
    write('queries.yaml', { groups: [{ name: 'queries', rules: queries.map((expr, nth) => ({ record: `query:${nth}`, expr })) }] })
    expect(run('check', 'rules', 'queries.yaml')).toEqual({ status: 0, output: expect.stringContaining('SUCCESS') })
    const reference = readFileSync(join(root, 'docs/reference/metrics.md'), 'utf8')
    const names = queries.flatMap((expr) => expr.match(/\bvitascope_[a-z_]+[a-z](?![a-z_(])/g) ?? [])
    for (const name of names) expect([name, reference.includes(`\`${name.replace(/_(bucket|sum|count)$/, '')}\``)]).toEqual([name, true])
  })

  test('objectives have a share of 0 before their first bad event', () => {
    const series = (metric: string, labels: string) => `${metric}{namespace="vitascope",${labels}}`
    const good = {
      api: series('vitascope_http_request_duration_seconds_count', 'service="gateway",method="POST",path="/video",status="201"'),
      files: series('vitascope_delivery_request_duration_seconds_count', 'service="delivery",status="200"'),
    }
    write('objectives.rules.yaml', { groups: groups.filter(({ name }) => name === 'vitascope.objectives') })
    const tests = Object.entries(good).map(([objective, metric]) => {
      const name = 'vitascope:errors:ratio_rate5m'
      const expected = { labels: `${name}{namespace="vitascope",objective="${objective}"}`, value: 0 }
      return {
        interval: '1m',
        input_series: [{ series: metric, values: '0+60x20' }],
        promql_expr_test: [{ expr: `${name}{objective="${objective}"}`, eval_time: '15m', exp_samples: [expected] }],
      }
    })
    write('objectives.yaml', { rule_files: ['objectives.rules.yaml'], evaluation_interval: '1m', tests })
    expect(run('test', 'rules', 'objectives.yaml')).toEqual({ status: 0, output: expect.stringContaining('SUCCESS') })
  })

  test('each have a case in which they fire, and one in which they do not', () => {
    const listAlerts = (fires: boolean) =>
      new Set(Object.entries(ALERT_CASES).flatMap(([alert, cases]) => (cases.some((one) => one.fires === fires) ? [alert] : [])))
    expect([...listAlerts(true)].sort()).toEqual([...alerts].sort())
    expect([...listAlerts(false), 'VitascopeWatchdog'].sort()).toEqual([...alerts].sort())
  })

  test.each(Object.entries(ALERT_CASES))('%s fires when it should, and only then', (alert, cases) => {
    // All rules together would take a minute.
    const needed = groups.map(({ name, rules }) => ({
      name,
      rules: rules.filter((rule) => rule.alert === alert || (rule.record !== undefined && usesObjectives(alert))),
    }))
    write(`${alert}.rules.yaml`, { groups: needed })
    const tests = cases.map((one) => toPromtoolTest(alert, one))
    write(`${alert}.yaml`, { rule_files: [`${alert}.rules.yaml`], evaluation_interval: '1m', tests })
    expect(run('test', 'rules', `${alert}.yaml`)).toEqual({ status: 0, output: expect.stringContaining('SUCCESS') })
  })
})

interface RuleGroup {
  name: string
  /** Alerts, and recorded series. */
  rules: { alert?: string; record?: string; expr: string }[]
}

/** Returns a unit test of promtool. Alerts that fire are series with the name ALERTS. */
function toPromtoolTest(alert: string, { name, series, at, fires }: AlertCase) {
  const expr = `count by (alertname) (ALERTS{alertname="${alert}",alertstate="firing"} > 0)`
  return {
    name,
    interval: '1m',
    input_series: Object.entries(series).map(([selector, values]) => ({ series: selector, values })),
    promql_expr_test: [{ expr, eval_time: at, exp_samples: fires ? [{ labels: `{alertname="${alert}"}`, value: 1 }] : [] }],
  }
}
