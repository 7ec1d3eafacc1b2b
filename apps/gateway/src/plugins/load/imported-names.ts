// Which names a module imports of another one.

/**
 * Pure. Those that have to be there for `source` to be linked; undefined: it does not import the
 * module, or only while it runs, as what may be missing is imported.
 */
export function importedNames(source: string, specifier: string): string[] | undefined {
  const quoted = `["']${specifier.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")}["']`;
  const clauses = [
    ...source.matchAll(new RegExp(`\\b(?:import|export)\\b([^"';()]*?)\\bfrom\\s*${quoted}`, "g")),
  ].map(([, clause = ""]) => clause.replaceAll(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, "").trim());
  const isBare = new RegExp(`\\bimport\\s*${quoted}`).test(source);
  const linked = clauses.filter((clause) => !/^type\s+[\w${]/.test(clause));
  if (linked.length === 0 && !isBare) return undefined;
  return [...new Set(linked.flatMap((clause) => namesIn(clause, source)))];
}

/** `a, { b as c }` or `* as all`, of which what stands behind a dot is used. */
function namesIn(clause: string, source: string): string[] {
  const [, listed = ""] = /\{([^}]*)\}/.exec(clause) ?? [];
  const named = listed
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "" && !part.startsWith("type "))
    .map((part) => part.split(/\s+as\s+/)[0]!);
  const rest = clause.replace(/\{[^}]*\}/, "");
  const [, space] = /\*\s*as\s+([\w$]+)/.exec(rest) ?? [];
  const used =
    space === undefined
      ? []
      : [...source.matchAll(new RegExp(`\\b${space.replaceAll("$", "\\$")}\\.([\\w$]+)`, "g"))].map(
          ([, name]) => name!,
        );
  const hasDefault = /^[\w$]+/.test(rest.trim());
  return [...named, ...used, ...(hasDefault ? ["default"] : [])];
}
