/** Response types of the audit log. */
export type { AuditEntry } from "./schema.ts";
