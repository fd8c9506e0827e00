/** API types for two-step sign-in. */
export type { SecondFactor, SecondFactorSecret as NewSecondFactor } from "./schema.ts";
