/** The part of Scalar's browser script that this page uses. */
interface Reference {
  updateConfiguration(configuration: object): void
}

declare global {
  interface Window {
    Scalar: { createApiReference(element: string, configuration: object): Reference }
  }
}

/** Key under which VitePress stores the selected theme. This page uses it, so that all pages have the same theme. */
const THEME_KEY = 'vitepress-theme-appearance'

const button = document.querySelector('.theme')
let isDark = readTheme()

const reference = window.Scalar.createApiReference('#api', configuration())
showTheme()
button?.addEventListener('click', () => {
  isDark = !isDark
  localStorage.setItem(THEME_KEY, isDark ? 'dark' : 'light')
  reference.updateConfiguration(configuration())
  showTheme()
})

/** No part of the page may load anything from other hosts: no fonts, telemetry, proxy or assistant. */
function configuration(): object {
  return {
    url: '/openapi.json',
    theme: 'none',
    layout: 'modern',
    withDefaultFonts: false,
    telemetry: false,
    agent: { disabled: true },
    mcp: { disabled: true },
    showDeveloperTools: 'never',
    hideClientButton: true,
    hideDarkModeToggle: true,
    forceDarkModeState: isDark ? 'dark' : 'light',
    defaultOpenFirstTag: true,
    documentDownloadType: 'json',
    // Generated samples in curl, TypeScript (fetch) and Python only. The document has those of the command line tool.
    hiddenClients: hiddenClients(),
    defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
    authentication: { preferredSecurityScheme: 'bearer', securitySchemes: { basic: { username: 'KEY', password: 'x' } } },
  }
}

function hiddenClients(): Record<string, true | string[]> {
  const languages = [
    'c',
    'clojure',
    'csharp',
    'dart',
    'fsharp',
    'go',
    'http',
    'java',
    'julia',
    'kotlin',
    'node',
    'objc',
    'ocaml',
    'php',
    'powershell',
    'r',
    'ruby',
    'rust',
    'swift',
  ]
  return {
    ...Object.fromEntries(languages.map((language) => [language, true as const])),
    shell: ['httpie', 'wget'],
    js: ['axios', 'jquery', 'ofetch', 'xhr'],
    python: ['python3', 'httpx_async', 'httpx_sync', 'aiohttp'],
  }
}

function readTheme(): boolean {
  const stored = localStorage.getItem(THEME_KEY)
  return stored === 'dark' || (stored !== 'light' && window.matchMedia('(prefers-color-scheme: dark)').matches)
}

function showTheme(): void {
  document.documentElement.classList.toggle('dark', isDark)
  button?.setAttribute('aria-pressed', String(isDark))
}

export {}
