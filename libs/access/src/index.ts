/** Addresses in one spelling. */
export { normaliseAddress } from './address.ts'
/** Which addresses may have the bytes. */
export { type AddressRule, type AddressRules, addressAllowed, parseAddressRules } from './address-rules.ts'
/** Values kept encrypted under the master key. */
export { createSeal, deriveKey, type Seal } from './seal.ts'
/** JSON kept encrypted: answers that hold a secret. */
export { sealedJson } from './sealed-json.ts'
/** The file of keys that sign tokens. */
export { makeTokenKeys, parseTokenKeys, type TokenKey, type TokenKeys } from './token-keys.ts'
/** Tokens that open one video for a while. */
export { signVideoToken, type TokenRefusal, type TokenVerdict, verifyVideoToken } from './video-token.ts'
