import { readdir } from 'node:fs/promises'

// node tools/bench.ts NAME [options]: runs bench/NAME/index.ts. Run nothing else at the same time.
const benches = new URL('../bench/', import.meta.url)
const [name = '', ...options] = process.argv.slice(2)
const entries = await readdir(benches, { withFileTypes: true })
const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)

if (names.includes(name)) {
  const { bench } = (await import(new URL(`${name}/index.ts`, benches).href)) as { bench(options: string[]): Promise<boolean> }
  process.exitCode = (await bench(options)) ? 0 : 1
} else {
  console.error(`usage: npm run bench -- NAME [options], with NAME one of: ${names.join(', ')}`)
  process.exitCode = 2
}
