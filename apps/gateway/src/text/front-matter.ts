// Reads the head of a Markdown file, in which it says what it is.

export interface FrontMatter {
  /** Its plain values, by name; lists and groups are left out. */
  values: ReadonlyMap<string, string>;
  /** What follows the head. */
  body: string;
}

const HEAD = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/;
const VALUE = /^([A-Za-z][\w-]*):(?:[ \t]+(.*))?$/;

/** Pure. Of YAML it knows what such heads hold: words, quoted ones, and texts of several lines. */
export function readFrontMatter(text: string): FrontMatter {
  const head = HEAD.exec(text);
  if (head === null) return { values: new Map(), body: text };
  const values = new Map<string, string>();
  const lines = head[1]!.split(/\r?\n/);
  for (const [at, line] of lines.entries()) {
    const [, name, rest = ""] = VALUE.exec(line) ?? [];
    if (name === undefined) continue;
    const value = readValue(rest.trim(), below(lines, at));
    if (value !== undefined) values.set(name, value);
  }
  return { values, body: text.slice(head[0].length) };
}

/** The lines that belong to the one at `at`, without their indentation. */
function below(lines: readonly string[], at: number): string[] {
  const after = lines.slice(at + 1);
  const end = after.findIndex((line) => line.trim() !== "" && !/^[ \t]/.test(line));
  return (end < 0 ? after : after.slice(0, end)).map((line) => line.trim());
}

function readValue(given: string, more: readonly string[]): string | undefined {
  if (/^[>|][+-]?\d*$/.test(given)) return more.join(given.startsWith(">") ? " " : "\n").trim();
  const quoted = /^(["'])([\s\S]*)\1$/.exec([given, ...more].join(" ").trim());
  if (quoted !== null)
    return quoted[1] === '"'
      ? quoted[2]!.replace(/\\(["\\])/g, "$1")
      : quoted[2]!.replaceAll("''", "'");
  const isGroup = given === "" || /^[[{&*!]/.test(given);
  return isGroup ? undefined : [given.replace(/\s+#.*$/, ""), ...more].join(" ").trim();
}
