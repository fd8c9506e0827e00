/** What stands around the sources of a report that is taken along, in the reader's language. */
export interface SourceWords {
  heading: string;
  /** Beside a source that no quote shows. */
  unverified: string;
}
