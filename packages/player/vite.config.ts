import { join } from 'node:path'
import { defineConfig } from 'vite'

const source = (name: string) => join(import.meta.dirname, 'src', `${name}.ts`)

export default defineConfig({
  build: {
    target: 'es2022',
    reportCompressedSize: false,
    lib: { entry: { player: source('player'), element: source('element'), react: source('react') }, formats: ['es'] },
    rolldownOptions: { external: ['react'] },
  },
})
