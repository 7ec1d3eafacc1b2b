// What the doctor says: one finding per thing it looked at.

export interface Finding {
  /** ok; note = fine, but good to know; warning = works, with less than intended; failure = does not work. */
  level: "ok" | "note" | "warning" | "failure";
  /** What was looked at, e.g. "settings". */
  subject: string;
  /** What was found and, unless it is ok, the next step. */
  text: string;
}
