export { isDay } from './day.ts'
export { checkEmail } from './email.ts'
export { isId, isUuid } from './id.ts'
export {
  checkPage,
  decodePageToken,
  encodePageToken,
  invalidPageToken,
  type KeyedPage,
  type PagePosition,
  type PageRequest,
  pageById,
  pageByKey,
  readIdToken,
  type TokenPage,
  toPageSize,
  toTokenPage,
} from './page.ts'
export { type ExpectedUpdate, requireUnchanged } from './require-unchanged.ts'
export { checkText, firstCharacters, isStorable, lengthUpTo, type TextBounds, tidy } from './text.ts'
export { applyMask, checkMask, type MaskPaths, readMask } from './update-mask.ts'
