import { join } from 'node:path'
import { defineConfig } from 'vite'

// One file with all that it needs, so that the package has no dependencies.
export default defineConfig({
  ssr: { noExternal: true },
  build: {
    ssr: true,
    target: 'node20',
    minify: true,
    reportCompressedSize: false,
    rolldownOptions: {
      input: { vitascope: join(import.meta.dirname, 'src/main.ts') },
      output: { entryFileNames: '[name].js', banner: '#!/usr/bin/env node' },
    },
  },
})
