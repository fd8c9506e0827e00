/** Request and response types of the limits API, under the names this app uses. */
export type { AllLimits, Limit as Most, LimitSpan as Span, Limits, LimitsOf, OwnLimit } from "./schema.ts";
