// Which files make the shipped engines, and where the conformance kit finds each.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** One engine with the files that decide what a host is answered. */
export interface ShippedEngine {
  name: string;
  files: readonly string[];
  /** Modules that export `createEngine`, one for each way in which it is used. */
  entries: readonly string[];
}

const ENTRIES = "apps/bench/src/mutants/entries";
const example = (name: string): ShippedEngine => ({
  name,
  files: [`apps/examples/${name}/src/engine.ts`],
  entries: [`apps/examples/${name}/src/engine.ts`],
});

export const SHIPPED: readonly ShippedEngine[] = [
  {
    name: "memory",
    files: ["packages/plugin-sdk/src/testing/memory-engine.ts"],
    entries: [`${ENTRIES}/memory.ts`],
  },
  ...["minimal-engine", "delegating-engine", "owning-engine"].map(example),
  {
    name: "legacy",
    files: ["packages/legacy-engine/src/engine.ts"],
    entries: [`${ENTRIES}/legacy.ts`],
  },
  {
    name: "lossless",
    // What a host's calls reach: tools, commands and what operators do are reached by none of them.
    files: [
      "packages/lossless-engine/src/{engine,stores}.ts",
      "packages/lossless-engine/src/{ingest,assemble,messages,sessions}/*.ts",
      "packages/lossless-engine/src/store/{store,messages,conversations,body,payloads,cuts,cursors,transcripts,pairs,left,known-rows,rows,connect,migrate}.ts",
    ],
    entries: [`${ENTRIES}/lossless.ts`, `${ENTRIES}/lossless-durable.ts`],
  },
];

/** The sources of these engines. */
export function engineFiles(
  root: string,
  names: readonly string[] = SHIPPED.map(({ name }) => name),
): { path: string; text: string }[] {
  const patterns = SHIPPED.filter(({ name }) => names.includes(name)).flatMap(({ files }) => files);
  return globSync([...patterns], { cwd: root })
    .filter((path) => !path.endsWith(".test.ts"))
    .sort()
    .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
}

/** Where the engine is found whose file this is; none: it belongs to no engine. */
export const entriesOf = (root: string, file: string): readonly string[] =>
  SHIPPED.find(({ name }) => engineFiles(root, [name]).some(({ path }) => path === file))
    ?.entries ?? [];
