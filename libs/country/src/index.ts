/** Countries of addresses. */
export { type Countries, NO_COUNTRIES, openCountries } from './countries.ts'
