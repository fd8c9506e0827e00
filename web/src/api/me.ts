/** What the API says of whoever is calling, and of the ways in. */
export type { Me, ProxySignIn as Proxy, Right } from "./schema.ts";
