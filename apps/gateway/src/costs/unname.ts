// Takes the names of sessions out of what is written down of money spent.
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { writeOwn } from "../home/own-writes.ts";
import { fromJson, toJson } from "../own-json.ts";
import { costsFolder } from "./ledger.ts";
import { parseLine } from "./line.ts";
import { sharedMark } from "./share-costs.ts";

/** In whose place what was spent stays counted. */
const FORGOTTEN = "forgotten";

/** What they cost stays, under no name; while no gateway runs. */
export async function unnameCosts(home: string, names: ReadonlySet<string>): Promise<void> {
  const folder = costsFolder(home);
  const files = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith(".jsonl"));
  let isChanged = false;
  for (const file of files.map((name) => join(folder, name))) {
    const before = await readFile(file, "utf8");
    const after = before
      .split("\n")
      .map((line) => unnamed(line, names))
      .join("\n");
    if (after === before) continue;
    isChanged = true;
    await writeOwn(file, after);
  }
  // Sums are made again from the lines, and these brought anew to where other gateways read them.
  if (!isChanged) return;
  for (const file of [join(folder, "totals.json"), sharedMark(home)])
    await rm(file, { force: true });
}

function unnamed(text: string, names: ReadonlySet<string>): string {
  if (parseLine(text) === undefined) return text;
  // Caps of sessions are called "session <name> <dollars>".
  const isName = (value: string) =>
    [...names].some((name) => value === name || value.startsWith(`session ${name} `));
  return toJson(
    fromJson(text, (_key, value: unknown) =>
      typeof value === "string" && isName(value) ? FORGOTTEN : value,
    ),
  );
}
