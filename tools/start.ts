// `npm start`: generates missing artefacts, then runs the platform in this process.
import { main } from '../apps/standalone/src/main.ts'
import { generate } from './lib/generate.ts'

const startMs = Date.now()
await generate()
await main(startMs)
