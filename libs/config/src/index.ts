export { ConfigError, type Reader, readEnvironment } from './read-environment.ts'
