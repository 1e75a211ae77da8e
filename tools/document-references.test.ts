import { expect, test } from '@jest/globals'
import { findUnknownReferences } from './document-references.ts'

const known = {
  scripts: new Set(['lint']),
  settings: new Set(['VITASCOPE_PORT', 'VITASCOPE_REDIS_URL', 'VITASCOPE_<SERVICE>_LISTEN']),
  metrics: new Set(['vitascope_build_info', 'vitascope_call_duration_seconds']),
  exists: (path: string) => path === 'apps/auth/src/main.ts',
}

test('accepts scripts, paths, settings and metrics that exist, and placeholders', () => {
  const text = `npm run lint, npm run COMMAND, node apps/auth/src/main.ts, \`apps/auth/src/main.ts\`, \`apps/NAME/src\`,
    VITASCOPE_PORT, VITASCOPE_REDIS_URL_FILE, VITASCOPE_AUTH_LISTEN, VITASCOPE_S3_*, vitascope_build_info, vitascope_delivery_*,
    vitascope_call_duration_seconds_count`
  expect(findUnknownReferences(text, known)).toEqual([])
})

test('reports scripts, paths, settings and metrics that do not exist', () => {
  const text = 'npm run lost, node apps/auth/lost.ts, `libs/lost/`, VITASCOPE_LOST, vitascope_lost_total'
  expect(findUnknownReferences(text, known)).toEqual([
    'there is no script lost',
    'there is no apps/auth/lost.ts',
    'there is no libs/lost/',
    'there is no setting VITASCOPE_LOST',
    'there is no metric vitascope_lost_total',
  ])
})
