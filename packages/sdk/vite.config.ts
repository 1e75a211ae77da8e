import { join } from 'node:path'
import { defineConfig } from 'vite'

const source = (name: string) => join(import.meta.dirname, 'src', `${name}.ts`)

export default defineConfig({
  build: {
    target: 'es2022',
    // Stack traces of apps are readable. The bundler of a web page minifies.
    minify: false,
    reportCompressedSize: false,
    lib: { entry: { index: source('index'), node: source('node') }, formats: ['es'] },
    rolldownOptions: { external: [/^node:/] },
  },
})
