export { type RunningService, runProcess } from './run-process.ts'
