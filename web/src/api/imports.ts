/** What an import answers; see docs/team/your-data.md. */
export type { ImportCounts, ImportReport } from "./schema.ts";
