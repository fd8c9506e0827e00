/** What the calls about limits take and answer; see docs/reference/api.md. */

/** Nothing where there is no limit. */
export interface Most {
  requests: number | null;
  tokens: number | null;
  usd: number | null;
}

export type Span = "minute" | "day" | "month";
export type Limits = Record<Span, Most>;

export interface AllLimits {
  default: Limits;
  users: { user: string; email: string | null; limits: Limits }[];
  groups: { group: string; limits: Limits }[];
  group_totals: { group: string; limits: Limits }[];
  keys: { key: string; limits: Limits }[];
  people: { key: string; limits: Limits }[];
}

export type LimitsOf =
  | "default"
  | { user: string }
  | { group: string }
  | { group_total: string }
  | { key: string }
  | { people: string };

export interface OwnLimit {
  of: "user" | "group" | "key" | "person";
  /** Which group. */
  group?: string;
  span: Span;
  most: Most;
  used: { requests: number; tokens: number; micro_usd: number };
  resets_at: number;
}
