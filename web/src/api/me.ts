/** API types for the current user and the available sign-in methods. */
export type { Me, ProxySignIn as Proxy, Right } from "./schema.ts";
