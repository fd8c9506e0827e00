/** Response types of the import; see docs/team/your-data.md. */
export type { ImportCounts, ImportReport } from "./schema.ts";
