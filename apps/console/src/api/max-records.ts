/** The console reads at most this number of records of a list that it shows or searches as a whole. */
export const MAX_RECORDS = 10_000
/** A select shows at most this number of matches at a time. */
export const MAX_OPTIONS = 100
