export { DomainError, type FieldError, invalid, isDomainError, notFound, type RefusalKind } from './domain-error.ts'
