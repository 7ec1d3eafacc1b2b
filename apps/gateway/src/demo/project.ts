// Invents the files of the project that the demo session works on.
import type { Chance } from "./chance.ts";

export interface ProjectFile {
  /** Below the project's folder. */
  path: string;
  symbols: readonly string[];
  text: string;
}

const FOLDERS = ["src/gauge", "src/table", "src/harbour", "src/report", "src/cli", "test"];
const STEMS = ["station", "reading", "curve", "window", "notice", "berth", "pilot", "surge"];
const VERBS = ["read", "fit", "merge", "clip", "shift", "round", "check", "print"];
const THINGS = ["Tide", "Level", "Station", "Berth", "Moon", "Surge", "Notice", "Chart"];
const TAILS = ["Table", "Range", "Series", "Window", "Offset", "Limit", "Record", "Page"];
const REMARKS = [
  "Times are of the harbour's own clock, summer time included.",
  "Heights are above chart datum, in centimetres.",
  "An empty series is a gauge that was out of order, not calm water.",
  "The moon's age decides which of the two neaps this is.",
  "Readings come every six minutes; gaps are never filled here.",
];

/** The same choices, the same project. */
export function inventProject(chance: Chance, files: number): readonly ProjectFile[] {
  const used = new Set<string>();
  const free = (make: () => string): string => {
    let made = make();
    while (used.has(made)) made = `${made}${chance.pick(TAILS)}`;
    used.add(made);
    return made;
  };
  const symbol = () =>
    free(() => `${chance.pick(VERBS)}${chance.pick(THINGS)}${chance.pick(TAILS)}`);
  const heads = Array.from({ length: files }, (_, at) => {
    const folder = FOLDERS[at % FOLDERS.length]!;
    const name = free(() => `${folder}/${chance.pick(STEMS)}-${chance.pick(THINGS).toLowerCase()}`);
    const path = `${name}${folder === "test" ? ".test.ts" : ".ts"}`;
    return { path, symbols: Array.from({ length: 3 + chance.below(4) }, symbol) };
  });
  return heads.map((head) => ({ ...head, text: textOf(chance, head, heads) }));
}

type Head = Pick<ProjectFile, "path" | "symbols">;

function textOf(chance: Chance, { path, symbols }: Head, all: readonly Head[]): string {
  const others = [chance.pick(all), chance.pick(all)];
  const lines = [
    `// ${path}`,
    ...others.map((other) => `import { ${chance.pick(other.symbols)} } from "${other.path}";`),
  ];
  for (const name of symbols) {
    lines.push(
      "",
      `// ${chance.pick(REMARKS)}`,
      `export function ${name}(series, limit = ${chance.below(600)}) {`,
    );
    for (let at = 0; at < 6 + chance.below(12); at++) {
      const called = chance.pick(chance.happens(0.4) ? chance.pick(others).symbols : symbols);
      lines.push(
        `  const part${at} = ${called}(series.slice(${chance.below(240)}), limit - ${at});`,
      );
    }
    lines.push("  return join(part0, limit);", "}");
  }
  return lines.join("\n");
}
