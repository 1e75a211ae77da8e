// `npm start`: what is generated first, then the platform in this same process.
import { main } from '../apps/standalone/src/main.ts'
import { generate } from './generate.ts'

const began = Date.now()
await generate()
await main(began)
