// Says what is the same of several things once, with their names.
import type { Diagnostic } from "./registrations.ts";

/** Pure. In order of the first of each kind. */
export function groupDiagnostics(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const groups = new Map<string, { level: Diagnostic["level"]; first: string; others: string[] }>();
  for (const { level, message, about } of diagnostics) {
    const kind = `${level} ${about === undefined ? message : message.replace(about, "\0")}`;
    const known = groups.get(kind);
    if (known === undefined) groups.set(kind, { level, first: message, others: [] });
    else if (about !== undefined) known.others.push(about);
  }
  return [...groups.values()].map(({ level, first, others }) => ({
    level,
    message: others.length === 0 ? first : `${first} (the same of ${others.join(", ")})`,
  }));
}
