/** Signs the principals of these tests. */
export const SECRET = 'a secret of these tests, long enough'
