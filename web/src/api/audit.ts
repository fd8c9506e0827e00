/** What the audit log answers. */
export type { AuditEntry } from "./schema.ts";
