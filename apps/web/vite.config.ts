import { join } from 'node:path'
import { defineConfig } from 'vite'

/** Scripts that every video requires, besides those that they import. */
const PRELOADED: ReadonlySet<string> = new Set(['vitascope-player', 'hls-playback'])

export default defineConfig({
  // The gateway serves index.html at /player/{id}, upload.html at /upload, assets at
  // /player/assets/… and the script at /player/embed.js.
  base: '/player/',
  build: {
    target: 'es2022',
    // Separate files, so that the content security policy of the page does not have to allow data:
    // addresses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // hls.js has 600 kB. It is loaded when a video is played.
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
      name: 'preload-player',
      // Without these links, the scripts of the player are found one after another.
      transformIndexHtml(html, { filename, bundle = {} }) {
        if (!filename.endsWith('index.html')) return
        const needed = new Set<string>()
        const add = (fileName: string) => {
          const script = bundle[fileName]
          if (script?.type !== 'chunk' || needed.has(fileName)) return
          needed.add(fileName)
          for (const imported of script.imports) add(imported)
        }
        for (const { type, name, fileName } of Object.values(bundle)) if (type === 'chunk' && PRELOADED.has(name ?? '')) add(fileName)
        // Vite adds the imports of the page's own script.
        const isKnown = (fileName: string) => html.includes(`/${fileName}"`)
        return [...needed]
          .filter((fileName) => !isKnown(fileName))
          .map((fileName) => ({ tag: 'link', attrs: { rel: 'modulepreload', href: `/player/${fileName}` } }))
      },
    },
    {
      name: 'embed-script',
      // The script runs in pages of other sites, possibly several times, so it must not define
      // global names.
      generateBundle(_, bundle) {
        const script = bundle['embed.js']
        if (script?.type !== 'chunk' || script.imports.length > 0) throw new Error('the embed script must be one file without imports')
        script.code = `(()=>{${script.code}})();\n`
      },
    },
  ],
})
