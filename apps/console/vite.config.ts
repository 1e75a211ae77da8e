import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { defineConfig } from 'vite'

export default defineConfig({
  // The gateway serves index.html at every path below /console, and assets at /console/assets/….
  base: '/console/',
  build: {
    target: 'es2023',
    // Separate files, so that the content security policy of the page does not have to allow data: addresses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 600,
    rolldownOptions: {
      // Libraries of most pages are smaller in two files than in many. The first page has no conflicts of two people.
      output: {
        codeSplitting: {
          groups: [
            { name: 'libraries', test: /node_modules\/(react|react-dom|scheduler|i18next|react-i18next|@tanstack)\// },
            {
              name: 'components',
              test: /node_modules\/(@mantine|@floating-ui)\/|src\/layout\/(?!conflict|merge|use-merged)/,
              minShareCount: 8,
            },
          ],
        },
      },
      onLog(level, log, report) {
        // Mantine marks its modules for servers that render React.
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') report(level, log)
      },
    },
  },
  plugins: [
    {
      name: 'compressed-copies',
      // The gateway sends these copies to clients that accept gzip.
      writeBundle({ dir = '' }) {
        const folder = join(dir, 'assets')
        for (const name of readdirSync(folder)) {
          if (/\.(js|css)$/.test(name)) writeFileSync(join(folder, `${name}.gz`), gzipSync(readFileSync(join(folder, name)), { level: 9 }))
        }
      },
    },
  ],
  // A development server for the pages: `npx vite apps/console`, next to a platform on port 8080.
  server: {
    proxy: {
      '/v2': 'http://127.0.0.1:8080',
      '/readyz': 'http://127.0.0.1:8080',
      '/player': 'http://127.0.0.1:8080',
      '/delivery': 'http://127.0.0.1:8080',
    },
  },
})
