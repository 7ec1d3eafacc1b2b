// Lists what a source file exports to everybody.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

export interface PublicExport {
  name: string;
  isType: boolean;
  /** The doc comment as one line of text; blank when there is none. */
  doc: string;
  /** What follows the name. */
  body: string;
}

const EXPORT =
  /(?:\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n)?^export (const|(?:async )?function\*?|class|interface|type) (\w+)/gm;

export function publicExports(path: string): PublicExport[] {
  const text = readFileSync(path, "utf8");
  return [...text.matchAll(EXPORT)].flatMap(
    ({ 0: all, 1: comment = "", 2: kind, 3: name, index }) =>
      name === undefined || comment.includes("@internal")
        ? []
        : [
            {
              name,
              isType: kind === "interface" || kind === "type",
              doc: comment.replace(/\n?\s*\* ?/g, " ").trim(),
              body: text.slice(index + all.length),
            },
          ],
  );
}

/** Source text as the linter writes it. */
export const formatted = (path: string, text: string): string =>
  execFileSync("node_modules/.bin/biome", ["check", "--write", `--stdin-file-path=${path}`], {
    input: text,
    encoding: "utf8",
  });
