/** Checks a URL without resolving its name, for field errors. */
export { checkUrl } from './check-url.ts'
/** Download to a file: resumed after a lost connection, hashed, with limits. */
export { type DownloadLimits, type DownloadOptions, type DownloadResult, download } from './download.ts'
/** Checks an address against a policy. */
export { isForbiddenAddress } from './forbidden-address.ts'
export type { BodyLimits } from './guarded-body.ts'
/** A guarded GET that follows redirects. */
export { type GuardedRequest, type GuardedResponse, guardedGet } from './guarded-get.ts'
/** A guarded POST of a small body, for webhooks. */
export { type GuardedPost, guardedPost } from './guarded-post.ts'
/**
 * The policy decides which addresses may be called. `checkNetwork` validates an item of its allow
 * list.
 */
export { checkNetwork, type Network, type SourcePolicy, sourcePolicy } from './policy.ts'
/** Validates the URL of a proxy. */
export { checkProxy } from './proxy.ts'
/** Name resolution. */
export type { Resolve } from './resolve-name.ts'
/** Faults of a source. */
export { isSourceError, SourceError, type SourceErrorCode } from './source-error.ts'
