/**
 * Cost of a password hash by argon2id: 19 MiB, two passes and one lane, as in the OWASP password storage cheat sheet. One
 * hash takes about 30 ms of a core.
 */
export const PASSWORD_COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const
