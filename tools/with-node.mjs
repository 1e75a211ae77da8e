// node tools/with-node.mjs TOOL [ARGUMENTS]: runs a TypeScript tool on a Node that strips types (22.18
// or newer). Installs the packages of the lock file if they are missing or outdated. Then runs the tool
// on this Node, or on the Node of an installed package if this one is too old. The paths of tools are
// relative to the root of the checkout.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const stampFile = join(root, 'node_modules', '.install-stamp')
const lockHash = createHash('sha256')
  .update(readFileSync(join(root, 'package-lock.json')))
  .digest('hex')
const installedHash = existsSync(stampFile) ? readFileSync(stampFile, 'utf8') : ''

// complete-lock must run without packages: it repairs a lock file that cannot be installed yet.
const needsPackages = !process.argv[2]?.endsWith('complete-lock.ts')

if (needsPackages && installedHash !== lockHash) {
  process.stderr.write('Installing packages (the first time takes half a minute) …\n')
  const npm = process.env.npm_execpath
  const [command, ...npmPath] = npm ? [process.execPath, npm] : ['npm']
  const options = ['ci', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  // npm's output goes to stderr, because stdout belongs to the tool.
  const install = spawnSync(command, [...npmPath, ...options], { cwd: root, stdio: ['ignore', 2, 2] })
  if (install.status !== 0) {
    process.stderr.write('The install failed; its messages are above. Check the network and the disk, then run the command again.\n')
    process.exit(install.status ?? 1)
  }
  mkdirSync(dirname(stampFile), { recursive: true })
  writeFileSync(stampFile, lockHash)
}

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
const stripsTypes = major > 22 || (major === 22 && minor >= 18)
const packagedNode = join(root, 'node_modules', `node-linux-${process.arch}`, 'bin', 'node')
const node = stripsTypes ? process.execPath : packagedNode
if (!existsSync(node)) {
  process.stderr.write(`Node ${process.versions.node} is too old, and no package has one for this machine: install Node 22.18 or newer.\n`)
  process.exit(1)
}

const [tool = '', ...args] = process.argv.slice(2)
const child = spawn(node, ['--disable-warning=ExperimentalWarning', join(root, tool), ...args], {
  stdio: 'inherit',
  env: {
    ...process.env,
    PATH: `${dirname(node)}:${join(root, 'node_modules', '.bin')}:${process.env.PATH ?? ''}`,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(root, '.cache', 'node-compile'),
  },
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
child.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)))
