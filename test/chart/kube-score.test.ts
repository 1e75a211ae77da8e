import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { kubeScorePath } from '@vitascope/testing'
import { parse } from 'yaml'
import { chart, describeChart, render, valueSets } from './support/chart.ts'

/** An accepted finding of kube-score. */
interface Exception {
  check: string
  finding: string
  /** Applies only to these value sets. */
  sets?: string[]
  reason: string
}

/** Findings for one object. */
interface ScoredObject {
  object_name: string
  checks: { check: { id: string }; grade: number; skipped: boolean; comments: { path: string; summary: string }[] | null }[]
}

const ALL_WELL = 10
const exceptions = (parse(readFileSync(join(chart, 'linters.yaml'), 'utf8')) as { 'kube-score': Exception[] })['kube-score']
const describeScore = kubeScorePath() === undefined ? describe.skip : describeChart

function findings(set: string): { object: string; check: string; finding: string }[] {
  const input = render([set])
    .map((manifest) => JSON.stringify(manifest))
    .join('\n---\n')
  const args = ['score', '--output-format', 'json', '--kubernetes-version', 'v1.34', '-']
  const { stdout, stderr } = spawnSync(kubeScorePath() ?? '', args, { input, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
  if (stdout === '') throw new Error(`kube-score: ${stderr}`)
  return (JSON.parse(stdout) as ScoredObject[]).flatMap(({ object_name, checks }) =>
    checks
      .filter(({ grade, skipped }) => !skipped && grade < ALL_WELL)
      .flatMap(({ check, comments }) =>
        (comments ?? []).map(({ path, summary }) => ({ object: `${object_name} ${path}`.trim(), check: check.id, finding: summary })),
      ),
  )
}

describeScore('kube-score', () => {
  const usedExceptions = new Set<Exception>()

  test.each(Object.keys(valueSets))('has no findings for the values %s except those in linters.yaml', (set) => {
    const unexplained = findings(set).filter(({ check, finding }) => {
      const exception = exceptions.find((exception) => exception.check === check && exception.finding === finding)
      if (exception === undefined || (exception.sets !== undefined && !exception.sets.includes(set))) return true
      usedExceptions.add(exception)
      return false
    })
    expect(unexplained).toEqual([])
  })

  test('linters.yaml contains no unused exception', () => {
    expect(exceptions.filter((exception) => !usedExceptions.has(exception)).map(({ check }) => check)).toEqual([])
    for (const { check, reason } of exceptions) expect([check, reason.length > 5]).toEqual([check, true])
  })
})
