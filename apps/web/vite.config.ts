import { defineConfig } from 'vite'

export default defineConfig({
  // The gateway answers /player/{id} with index.html and /player/assets/… with what it names.
  base: '/player/',
  build: {
    target: 'es2022',
    // Files of their own, so that the page's content security policy needs no data: addresses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // hls.js alone has 600 kB; it is loaded when there is something to play.
    chunkSizeWarningLimit: 700,
  },
})
