/** The parts of a checked address. */
export { hostAndPort } from './host-and-port.ts'
export { ConfigError, type Reader, readEnvironment } from './read-environment.ts'
