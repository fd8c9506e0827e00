/** What the API says of the second step of the sign-in. */
export type { SecondFactor, SecondFactorSecret as NewSecondFactor } from "./schema.ts";
