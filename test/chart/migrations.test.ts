import { expect, test } from '@jest/globals'
import { describeChart, find, findPod, main, type PodSpec, render, renderOnce, workloads } from './support/chart.ts'

describeChart('migrations', () => {
  test('migrations run before new pods start, on install and on upgrade', () => {
    const jobs = workloads(renderOnce('production')).filter(({ manifest }) => manifest.kind === 'Job')
    expect(jobs.map(({ component }) => component).sort()).toEqual(
      ['analytics', 'auth', 'catalogue', 'collaboration', 'encoding'].map((name) => `${name}-migrate`),
    )
    for (const { manifest, component, pod } of jobs) {
      const name = component.replace('-migrate', '')
      expect(manifest.metadata.annotations).toMatchObject({ 'helm.sh/hook': 'pre-install,pre-upgrade' })
      expect(manifest.metadata.annotations?.['helm.sh/hook-delete-policy']).toContain('before-hook-creation')
      expect(manifest.spec).toMatchObject({ activeDeadlineSeconds: 900, backoffLimit: 3 })
      expect(main(pod).args).toEqual([`apps/${name}/src/migrate.ts`, '--wait'])
      expect(main(pod).image).toBe(main(findPod(renderOnce('production'), name)).image)
      // The hook has its own ServiceAccount and its own network policy for the database.
      for (const kind of ['ServiceAccount', 'NetworkPolicy']) {
        const { annotations } = find(renderOnce('production'), kind, component).metadata
        expect(annotations?.['helm.sh/hook']).toBe('pre-install,pre-upgrade')
        expect(Number(annotations?.['helm.sh/hook-weight'])).toBeLessThan(0)
      }
      const services = renderOnce('production').filter(({ kind }) => kind === 'Service')
      for (const { spec } of services) {
        const { selector } = spec as { selector: Record<string, string> }
        expect(selector['app.kubernetes.io/component']).not.toBe(component)
      }
    }
  })

  test('if the database is part of the release, pods wait for it and migrate in an init container', () => {
    for (const set of ['evaluation', 'cloudnativepg']) {
      expect(workloads(renderOnce(set)).filter(({ manifest }) => manifest.kind === 'Job')).toEqual([])
      for (const name of ['auth', 'catalogue', 'encoding', 'collaboration', 'analytics']) {
        expect(findPod(renderOnce(set), name).initContainers).toMatchObject([
          { name: 'migrate', args: [`apps/${name}/src/migrate.ts`, '--wait'] },
        ])
      }
    }
  })

  test('migration pods have the node placement of their component, and no priority class', () => {
    const pods = { nodeSelector: { kind: 'service' }, tolerations: [{ key: 'service', operator: 'Exists' }] }
    const { spec } = find(render(['production'], { auth: { pod: pods } }), 'Job', 'auth-migrate')
    const { template } = spec as { template: { spec: PodSpec } }
    expect(template.spec).toMatchObject(pods)
    // The priority classes of this release do not exist before its first install.
    expect(template.spec.priorityClassName).toBeUndefined()
  })

  test('a database that the chart creates allows enough connections for an upgrade', () => {
    const { spec } = find(renderOnce('cloudnativepg'), 'Cluster', 'postgres')
    const { postgresql } = spec as { postgresql: { parameters: { max_connections: string } } }
    // One set of services uses 66 connections. During an upgrade, there can be three sets.
    expect(Number(postgresql.parameters.max_connections)).toBeGreaterThan(3 * 66 + 20)
    expect(main(findPod(renderOnce('evaluation'), 'postgres')).args).toEqual(['-c', 'max_connections=200'])
  })
})
