// Order of the test files. Jest starts the slowest files of its last run first. In a new checkout it knows no
// durations and starts the largest files first, so that a short file with a slow test may start last and run alone.
import Sequencer from '@jest/test-sequencer'

/** Folders of slow files: of tests with a platform, with encodes or browsers, and with other processes or a database. */
const SLOWEST_FIRST = [/^e2e\//, /^(apps\/(encoding|web)|libs\/media)\/test\//, /^(apps|libs|packages)\/[^/]+\/test\/|^test\//]

export default class SlowestFirst extends Sequencer {
  sort(tests) {
    const bySize = super.sort(tests)
    if (bySize.some(({ duration }) => duration !== undefined)) return bySize
    return bySize.sort((a, b) => rank(a) - rank(b))
  }
}

function rank({ path, context }) {
  const name = path.slice(context.config.rootDir.length + 1)
  const index = SLOWEST_FIRST.findIndex((pattern) => pattern.test(name))
  return index === -1 ? SLOWEST_FIRST.length : index
}
