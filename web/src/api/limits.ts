/** What the calls about limits take and answer, under the names that this app uses. */
export type { AllLimits, Limit as Most, LimitSpan as Span, Limits, LimitsOf, OwnLimit } from "./schema.ts";
