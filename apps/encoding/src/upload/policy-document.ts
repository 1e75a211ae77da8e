/** One condition of a policy, as object stores have them. */
export type Condition =
  | { operator: 'eq' | 'starts-with'; name: string; value: string }
  | { operator: 'content-length-range'; least: number; most: number }

export interface Policy {
  expires: Date
  conditions: Condition[]
}
