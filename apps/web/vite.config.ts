import { join } from 'node:path'
import { defineConfig } from 'vite'

export default defineConfig({
  // The gateway answers /player/{id} with index.html, /upload with upload.html, /player/assets/… with what it names, and /player/embed.js.
  base: '/player/',
  build: {
    target: 'es2022',
    // Files of their own, so that the page's content security policy needs no data: addresses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // hls.js alone has 600 kB; it is loaded when there is something to play.
    chunkSizeWarningLimit: 700,
    rolldownOptions: {
      input: {
        page: join(import.meta.dirname, 'index.html'),
        upload: join(import.meta.dirname, 'upload.html'),
        embed: join(import.meta.dirname, 'src/embed/embed-script.ts'),
      },
      output: { entryFileNames: ({ name }) => (name === 'embed' ? 'embed.js' : 'assets/[name]-[hash].js') },
    },
  },
  plugins: [
    {
      name: 'embed-script',
      // A plain script of other people's pages: it may stand there several times, so it leaves no name behind.
      generateBundle(_, bundle) {
        const script = bundle['embed.js']
        if (script?.type !== 'chunk' || script.imports.length > 0) throw new Error('the embed script is not of one piece')
        script.code = `(()=>{${script.code}})();\n`
      },
    },
  ],
})
