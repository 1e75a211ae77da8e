export { DomainError, type ErrorKind, type FieldError, invalid, isDomainError, notFound, requireValid } from './domain-error.ts'
