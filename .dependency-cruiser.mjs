// Allowed imports between packages and folders (see ARCHITECTURE.md). `npm run lint` checks them, and
// tools/outbound.ts checks which files open sockets.

/** The libs that each lib may import. */
const libs = {
  proto: [],
  errors: [],
  concurrency: [],
  config: ['errors'],
  telemetry: [],
  process: ['config', 'errors', 'telemetry'],
  security: ['errors'],
  'playback-policy': ['errors', 'security'],
  captions: ['concurrency', 'errors'],
  country: ['telemetry'],
  'embedded-postgres': [],
  grpc: ['concurrency', 'errors', 'telemetry', 'proto'],
  postgres: ['errors', 'telemetry'],
  principal: ['errors', 'grpc'],
  'rate-limit': ['errors', 'process', 'security', 'telemetry'],
  request: ['errors'],
  service: ['config', 'grpc', 'postgres', 'principal', 'process', 'proto', 'request', 'telemetry'],
  queue: ['errors', 'telemetry', 'postgres'],
  storage: ['errors', 'telemetry'],
  fetch: ['concurrency', 'errors', 'telemetry'],
  media: ['errors', 'telemetry'],
  platform: ['concurrency', 'config', 'embedded-postgres', 'security'],
  testing: ['[^/]+'],
}

/** Test files. A suite tests several implementations of one interface. */
const tests = '([.]test|-suite)[.]ts$|^(apps|libs|packages)/[^/]+/test/|^libs/testing/|^e2e/|^tools/|^bench/|^test/'
const forbidden = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to })

export default {
  forbidden: [
    forbidden('no-cycles', 'Files that import each other cannot be understood alone.', {}, { circular: true }),
    forbidden(
      'app-to-app',
      'Apps call each other by gRPC and never import each other.',
      { path: '^apps/([^/]+)/' },
      { path: '^apps/', pathNot: '^apps/$1/' },
    ),
    forbidden('lib-to-app', 'Libs are shared by apps, so they import none.', { path: '^libs/' }, { path: '^apps/' }),
    forbidden('no-imports-of-tools', 'Tools import the product, never the reverse.', { path: '^(apps|libs|deploy)/' }, { path: '^tools/' }),
    forbidden(
      'tools-to-tests',
      'Tests use tools, never the reverse. What both need is in tools/lib.',
      { path: '^tools/' },
      { path: '^(test|e2e|bench)/' },
    ),
    forbidden(
      'tests-to-tools',
      'Of the tools, tests and benchmarks import only tools/lib.',
      { path: '^(test|e2e|bench)/' },
      { path: '^tools/', pathNot: '^tools/lib/' },
    ),
    forbidden('tools-lib', 'tools/lib imports no other tool.', { path: '^tools/lib/' }, { path: '^tools/', pathNot: '^tools/lib/' }),
    forbidden(
      'packages-are-independent',
      'Others install packages without the platform, so these import no other code of it.',
      { path: '^packages/([^/]+)/', pathNot: tests },
      { path: '^(apps|libs|packages|tools|e2e|test)/', pathNot: '^packages/($1|sdk)/' },
    ),
    ...Object.entries(libs).map(([lib, allowed]) =>
      forbidden(
        `imports-of-${lib}`,
        `libs/${lib} may import ${allowed.length === 0 ? 'no other lib' : allowed.join(', ')}.`,
        { path: `^libs/${lib}/`, pathNot: tests },
        { path: '^libs/', pathNot: `^libs/(${[lib, ...allowed].join('|')})/` },
      ),
    ),
    forbidden(
      'unlisted-lib',
      'A new lib must be listed in .dependency-cruiser.mjs.',
      { path: '^libs/', pathNot: `^libs/(${Object.keys(libs).join('|')})/` },
      { path: '^(libs|apps)/' },
    ),
    forbidden(
      'by-package-name',
      'Other packages are imported by their name, which resolves to their index.ts.',
      { path: '^(apps|libs|packages)/([^/]+)/' },
      { path: '^(apps|libs|packages)/', pathNot: '^$1/$2/', dependencyTypes: ['local'] },
    ),
    forbidden(
      'no-database',
      'The gateway, delivery and the web pages do not use the database.',
      { path: '^apps/(gateway|delivery|web)/', pathNot: tests },
      { path: '^libs/(postgres|queue)/|node_modules/(pg|pg-boss|pg-pool|node-pg-migrate)/' },
    ),
    forbidden(
      'gateway-server-to-api',
      'The REST engine of the gateway works with any route table.',
      { path: '^apps/gateway/src/(server|clients)/', pathNot: tests },
      { path: '^apps/gateway/src/(api/|[^/]+$)' },
    ),
    forbidden(
      'ffmpeg-only-in-media',
      'Only libs/media builds ffmpeg command lines.',
      { pathNot: '^libs/media/' },
      { path: 'node_modules/(@types/)?fluent-ffmpeg/' },
    ),
    forbidden(
      'kubernetes-only-in-encoding',
      'Only one folder calls the Kubernetes API, because its caller can create pods.',
      { path: '^(apps|libs)/', pathNot: ['^apps/encoding/src/kubernetes/', tests] },
      { path: 'node_modules/@kubernetes/' },
    ),
    forbidden(
      'testing-only-in-tests',
      'Only tests import libs/testing.',
      { path: '^(apps|libs)/', pathNot: tests },
      { path: '^libs/testing/' },
    ),
    forbidden(
      'embedded-postgres-only-on-one-machine',
      'Services get a database URL. Only standalone, backup and the tests run a server.',
      { path: '^(apps|libs)/', pathNot: [tests, '^apps/(backup|standalone)/', '^libs/(embedded-postgres|platform)/'] },
      { path: '^libs/embedded-postgres/' },
    ),
    forbidden(
      'no-imports-of-tests',
      'Tests import the product, never the reverse.',
      { path: '^(apps|libs|packages)/', pathNot: tests },
      { path: '[.]test[.]ts$|^(e2e|test)/' },
    ),
    forbidden('unresolvable', 'The import cannot be resolved.', {}, { couldNotResolve: true }),
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
