import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../lib/run-command.ts'
import { run } from './run.ts'

/** Folders of the packages that others install. Their built files exist after `npm run generate`. */
export const PACKAGES = ['sdk', 'player', 'cli'] as const

/**
 * Packs the packages into `out`. The packed manifests can be published: they are not private, and
 * have no scripts and no dependencies of development.
 */
export async function packPackages(folder: string, out: string): Promise<void> {
  mkdirSync(out, { recursive: true })
  for (const name of PACKAGES) {
    const from = join(root, 'packages', name)
    const copy = join(folder, 'packages', name)
    mkdirSync(copy, { recursive: true })
    const manifest = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8')) as { files: string[] }
    for (const file of manifest.files)
      cpSync(join(from, file), join(copy, file), { recursive: true, filter: (path) => !path.endsWith('.stamp') })
    writeFileSync(join(copy, 'package.json'), `${JSON.stringify(publishedManifest(manifest), null, 2)}\n`)
    await run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', out], {}, copy)
  }
}

function publishedManifest(manifest: object): object {
  const { private: _private, devDependencies: _development, scripts: _scripts, ...published } = manifest as Record<string, unknown>
  return { ...published, publishConfig: { access: 'public' } }
}
