// Sets and removes variables in a file of them, line by line.

/** How a shell's file says that its variables are for the programs it starts. */
const EXPORT = "export ";

const LINE = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*?)\s*$/;

/** Pure. The last of a name counts. */
export function readVariables(text: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const line of text.split(/\r?\n/)) {
    const [, name, written] = LINE.exec(line) ?? [];
    if (name !== undefined) found[name] = unquoted(written ?? "");
  }
  return found;
}

/** Pure. */
export function setVariable(
  text: string,
  name: string,
  value: string,
  { isShell }: { isShell: boolean },
): string {
  const lines = text.split("\n");
  const at = lines.findLastIndex((each) => LINE.exec(each)?.[1] === name);
  const isExported = isShell || /^\s*export\s/.test(lines[at] ?? "");
  const line = `${isExported ? EXPORT : ""}${name}=${quoted(value, isShell)}`;
  if (at >= 0) return lines.with(at, line).join("\n");
  return `${text}${text === "" || text.endsWith("\n") ? "" : "\n"}${line}\n`;
}

/** Pure. It stands again as in `before`, letter by letter: readers differ in what quotes mean. */
export function restoreVariable(text: string, name: string, before: string): string {
  const isIts = (line: string) => LINE.exec(line)?.[1] === name;
  const line = before.split(/\r?\n/).findLast(isIts);
  const lines = text.split("\n");
  const at = lines.findLastIndex(isIts);
  return line === undefined || at < 0 ? text : lines.with(at, line).join("\n");
}

/** Pure. */
export const removeVariable = (text: string, name: string): string =>
  text
    .split("\n")
    .filter((line) => LINE.exec(line)?.[1] !== name)
    .join("\n");

function quoted(value: string, isShell: boolean): string {
  if (/^[\w./:@%+=-]*$/.test(value)) return value;
  if (!value.includes("'")) return `'${value}'`;
  return isShell ? `'${value.replaceAll("'", "'\\''")}'` : `"${value}"`;
}

function unquoted(written: string): string {
  const [, quote, inner] = /^(["'])(.*)\1$/.exec(written) ?? [];
  return quote === undefined ? written : inner!.replaceAll("'\\''", "'");
}
