/** Translated labels for the sources of an exported report. */
export interface SourceWords {
  heading: string;
  /** Next to a source whose quote is not verified. */
  unverified: string;
}
