// Jest's environment for Node, in which tests and hooks have the patience of libs/testing.
import { TestEnvironment } from 'jest-environment-node'
import { patient } from '../libs/testing/src/patience.ts'

export default class PatientEnvironment extends TestEnvironment {
  /** What has its limit already: a hook starts once for each test. */
  #limited = new WeakSet()

  handleTestEvent({ name, test, hook }, { testTimeout }) {
    const started = name === 'test_start' ? test : name === 'hook_start' ? hook : undefined
    if (!started || this.#limited.has(started)) return
    this.#limited.add(started)
    started.timeout = patient(started.timeout ?? testTimeout)
  }
}
