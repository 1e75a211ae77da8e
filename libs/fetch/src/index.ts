/** What a URL itself shows to be wrong, for a refusal of the field that held it. */
export { checkUrl } from './check-url.ts'
/** A source into a file: resumed after a cut, hashed, within limits. */
export { type Downloaded, type DownloadLimits, type DownloadOptions, download } from './download.ts'
/** Whether an address is one that nothing of ours may call. */
export { isForbiddenAddress } from './forbidden-address.ts'
export type { BodyLimits } from './guarded-body.ts'
/** One guarded GET, redirects followed. */
export { type GuardedAnswer, type GuardedRequest, guardedGet } from './guarded-get.ts'
/** One guarded POST of a small body: to webhooks. */
export { type GuardedPost, guardedPost } from './guarded-post.ts'
/** Which addresses may be called; `checkNetwork` judges an item of the allow list. */
export { checkNetwork, type Network, type SourcePolicy, sourcePolicy } from './policy.ts'
/** How names become addresses. */
export type { Resolve } from './resolve-name.ts'
/** What is wrong with a source. */
export { isSourceError, SourceError, type SourceErrorCode } from './source-error.ts'
