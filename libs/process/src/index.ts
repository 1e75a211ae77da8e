/** Housekeeping, round by round. */
export { repeat, repeatLater } from './repeat.ts'
export { type RunningService, runProcess } from './run-process.ts'
