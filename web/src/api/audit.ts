/** What the audit log answers; see docs/reference/api.md. */

/** A line of the audit log. */
export interface AuditEntry {
  id: string;
  at: number;
  actor: string | null;
  actor_email: string | null;
  key: string | null;
  address: string | null;
  request_id: string | null;
  action: string;
  subject: string | null;
  subject_name: string | null;
  details: Record<string, unknown> | null;
}
