/** Normalised addresses. */
export { normaliseAddress, type ParsedAddress, parseAddress } from './address.ts'
/** Networks that limits count an address by. */
export { addressGroups, toWidestNetwork } from './address-group.ts'
/** Lists of addresses and networks. */
export { type AddressRule, type AddressRules, isAddressAllowed, matchesAddress, parseAddressRules } from './address-rules.ts'
/** Addresses of clients behind proxies. */
export { clientAddress } from './client-address.ts'
/** Files with keys that are read again when they change. */
export { fixedKeys, type KeyFile, type KeyFileListener, type KeyFileOptions, openKeyFile } from './key-file.ts'
/** Keys that stored values are encrypted with. */
export { fixedMasterKeys, type MasterKeyList, type MasterKeys, masterKeysProblem, openMasterKeys, parseMasterKeys } from './master-keys.ts'
/** Cost of password hashes. */
export { PASSWORD_COST } from './password-cost.ts'
/** Steps of a rotation of keys. */
export { ROTATION_STEPS, type RotationStep, rotateKeys } from './rotate-keys.ts'
/** Values that are encrypted under the master key. */
export { createKeyDerivation, createSeal, deriveKey, type Seal } from './seal.ts'
/** Encrypted JSON for responses that contain a secret. */
export { RESPONSE_CONTEXT, sealedJson } from './sealed-json.ts'
/** Key files of keys that sign tokens. */
export { makeTokenKeys, openTokenKeys, parseTokenKeys, type TokenKey, type TokenKeyFile, type TokenKeys } from './token-keys.ts'
/** Tokens that allow watching one video for a limited time. */
export { signVideoToken, type TokenCheck, type TokenDownload, type TokenRejection, verifyVideoToken } from './video-token.ts'
