// Whether a line typed in a session is a command or a message.

export interface CommandLine {
  kind: "command";
  /** Lower case, without the slash; "" for a lone slash. */
  name: string;
  args: string;
}

export type ParsedLine = { kind: "message"; text: string } | CommandLine;

/** Pure. Only the beginning of the text decides. */
export function parseLine(text: string): ParsedLine {
  const line = text.trimStart();
  if (line.startsWith("//")) return { kind: "message", text: line.slice(1) };
  if (!line.startsWith("/")) return { kind: "message", text };
  const [, word = "", args = ""] = /^\/(\S*)(?:\s+([\s\S]*))?$/.exec(line) ?? [];
  // A path: commands have one slash.
  if (word.includes("/")) return { kind: "message", text };
  return { kind: "command", name: word.toLowerCase(), args: args.trim() };
}
