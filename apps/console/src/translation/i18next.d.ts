import 'i18next'
import type { English } from './english.ts'

declare module 'i18next' {
  interface CustomTypeOptions {
    resources: { translation: English }
  }
}
