// Reads the passes of the transcript policy, and writes what is made of them.
import { readdirSync, readFileSync } from "node:fs";
import { formatted, publicExports } from "./public-exports.ts";

const ROOT = "packages/transcript-policy";
const FOLDER = `${ROOT}/src/passes`;

export interface PassRule {
  /** As in `PolicyChange.rule`. */
  rule: string;
  /** Name of the function. */
  name: string;
  /** First sentence of its doc comment. */
  sentence: string;
  /** True: its doc comment says that nothing calls it yet. */
  isWaiting: boolean;
}

const passFiles = (): string[] =>
  readdirSync(FOLDER).filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"));

/** Every pass with a rule of its own, by file. */
export function passRules(): PassRule[] {
  return passFiles().flatMap((file) =>
    publicExports(`${FOLDER}/${file}`).flatMap(({ name, doc, body }) => {
      const rule = /^ = define(?:Async)?Pass(?:<[^(]*>)?\(\s*"([^"]+)"/.exec(body)?.[1];
      const sentence = /^.*?\.(?=\s|$)/s.exec(doc)?.[0] ?? doc;
      return rule === undefined
        ? []
        : [{ rule, name, sentence, isWaiting: doc.includes("No caller yet") }];
    }),
  );
}

/** The entry file "./passes": everything public the folder's files export. */
export function passesModule(): { path: string; text: string } {
  const path = `${ROOT}/src/passes.ts`;
  const files = [
    "pass",
    "traits",
    "wires",
    "readers",
    "texts",
    ...passFiles().map((file) => `passes/${file.slice(0, -3)}`),
  ];
  const lines = files.flatMap((file) => {
    const names = publicExports(`${ROOT}/src/${file}.ts`).map(({ name, isType }) =>
      isType ? `type ${name}` : name,
    );
    return names.length === 0 ? [] : [`export { ${names.join(", ")} } from "./${file}.ts";`];
  });
  const head = "// Every pass by name, as `pnpm run docs` finds them in the folder.";
  // Named in the signatures of passes.
  const stored = 'export type { StoredBlock, StoredMessage } from "./stored.ts";';
  return { path, text: formatted(path, [head, ...lines, stored].join("\n")) };
}

/** The README with its table of rules rewritten. */
export function passesReadme(): { path: string; text: string } {
  const path = `${ROOT}/README.md`;
  const rows = passRules()
    .filter(({ isWaiting }) => !isWaiting)
    .map(({ rule, sentence }) => `| \`${rule}\` | ${sentence.replaceAll("|", "\\|")} |`);
  const table = ["| rule | what it does |", "| --- | --- |", ...rows].join("\n");
  const text = readFileSync(path, "utf8").replace(
    /(<!-- rules: [^>]*-->\n).*?(\n<!-- end of rules -->)/s,
    (_, start: string, end: string) => `${start}${table}${end}`,
  );
  return { path, text };
}
