// Invents the files of a project and the symbols in them.
import type { Chance } from "./chance.ts";
import type { Language } from "./languages.ts";

export interface ProjectFile {
  /** Below the project's folder. */
  path: string;
  symbols: readonly string[];
  text: string;
}

export interface Project {
  files: readonly ProjectFile[];
  /** Lines of all files in which a symbol stands, as a search prints them. */
  find(symbol: string): readonly { file: ProjectFile; line: string }[];
}

const VERBS =
  "load save parse merge plan split check send open close read write count rank fold trim".split(
    " ",
  );
const THINGS =
  "Invoice Ledger Token Session Anchor Route Budget Cursor Payload Widget Queue Lease Index Filter Report Schema Tenant Policy Bucket Digest".split(
    " ",
  );
const TAILS = "Batch Page Entry Range Table Cache Draft Total Window Header Hook Limit".split(" ");
const ENDINGS = [".ts", ".ts", ".ts", ".go", ".py", ".md"];

export function inventProject(chance: Chance, language: Language, files: number): Project {
  const used = new Set<string>();
  const made = Array.from({ length: files }, () => inventFile(chance, language, used));
  const texts = made.map((file, at) => ({ ...file, text: textOf(chance, language, made, at) }));
  return {
    files: texts,
    find: (symbol) =>
      texts.flatMap((file) =>
        file.text
          .split("\n")
          .flatMap((line, at) =>
            line.includes(symbol) ? [{ file, line: `${file.path}:${at + 1}:${line}` }] : [],
          ),
      ),
  };
}

function inventFile(chance: Chance, language: Language, used: Set<string>) {
  let path = "";
  do {
    const { folders, stems } = language;
    const folder = `${chance.pick(folders)}/${chance.pick(folders)}`;
    path = `${folder}/${chance.pick(stems)}-${chance.pick(THINGS).toLowerCase()}${chance.pick(ENDINGS)}`;
  } while (used.has(path));
  used.add(path);
  const count = 3 + chance.below(5);
  return { path, symbols: Array.from({ length: count }, () => inventSymbol(chance, used)) };
}

function inventSymbol(chance: Chance, used: Set<string>): string {
  let symbol = "";
  do {
    const parts = [chance.pick(VERBS), chance.pick(THINGS), chance.pick(TAILS)];
    symbol =
      chance.next() < 0.7
        ? parts.join("")
        : `${parts.join("_").toLowerCase()}_${chance.below(90) + 10}`;
    if (used.has(symbol)) symbol += chance.pick(THINGS);
  } while (used.has(symbol));
  used.add(symbol);
  return symbol;
}

/** Each symbol's body calls its neighbours, and now and then one of another file. */
function textOf(
  chance: Chance,
  { comments }: Language,
  files: readonly Pick<ProjectFile, "path" | "symbols">[],
  at: number,
): string {
  const { path, symbols } = files[at]!;
  const lines = [`// ${path}`];
  const imported = Array.from({ length: 3 }, () => chance.pick(files));
  for (const other of imported)
    lines.push(`import { ${chance.pick(other.symbols)} } from "${other.path}";`);
  for (const symbol of symbols) {
    lines.push(
      "",
      `// ${chance.pick(comments)}`,
      `export function ${symbol}(input, limit = ${chance.below(900)}) {`,
    );
    const length = 8 + chance.below(16);
    for (let line = 0; line < length; line++) {
      const called =
        chance.next() < 0.3 ? chance.pick(chance.pick(imported).symbols) : chance.pick(symbols);
      lines.push(
        `  const step${line} = ${called}(input.${chance.pick(THINGS).toLowerCase()}, ${chance.below(5000)});`,
      );
    }
    lines.push(`  return combine(step0, limit);`, "}");
  }
  return lines.join("\n");
}
