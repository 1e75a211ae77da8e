export { DomainError, type FieldError, invalid, isDomainError, notFound, type RefusalKind, requireValid } from './domain-error.ts'
