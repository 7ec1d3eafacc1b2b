// The command `pnpm mutants`, which draws a list of mutants or runs the tests on one.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { engineFiles, entriesOf, SHIPPED } from "./engines.ts";
import { mutantsOf, type PlacedMutant } from "./generate.ts";
import { pickMutants } from "./pick.ts";
import { coreFiles, placesOf } from "./places.ts";
import { type MutantResult, tryMutant } from "./run.ts";
import { tryByKit } from "./try-by-kit.ts";

const USAGE = `Usage: pnpm mutants pick FILE [--count 300] [--seed 1] [--engine NAME...]
       pnpm mutants run LIST [--by kit] [--out FILE] [--ref HEAD] [--in FOLDER]

  pick            draws mutants of the packages' cores and writes them to FILE
  --engine NAME   of a shipped engine instead: ${SHIPPED.map(({ name }) => name).join(", ")}; "all" = each of them
  run             plants each mutant of LIST in a scratch checkout and runs the packages' tests
  --by kit        asks the conformance kit instead, which knows the engine from outside only
  --ref COMMIT    the commit that is checked out for it (default: HEAD)
  --in FOLDER     use this checkout, installed already, instead of a scratch one; it is changed meanwhile
  --out FILE      where the verdicts go, after every mutant; a FILE that holds some is continued
`;

export async function main(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      help: { type: "boolean", short: "h" },
      count: { type: "string", default: "300" },
      seed: { type: "string", default: "1" },
      out: { type: "string" },
      ref: { type: "string", default: "HEAD" },
      in: { type: "string" },
      engine: { type: "string", multiple: true },
      by: { type: "string" },
    },
  });
  const [command, file] = positionals;
  if (values.help) return say(USAGE, 0);
  if (file === undefined || (command !== "pick" && command !== "run")) return say(USAGE, 2);
  if (command === "pick") {
    const names = values.engine?.includes("all") ? undefined : values.engine;
    const files = values.engine === undefined ? coreFiles(".") : engineFiles(".", names);
    const list = await pickMutants(".", Number(values.count), Number(values.seed), files);
    writeFileSync(file, asJson(list));
    const all = await mutantsOf(files);
    return say(`${list.length} of ${all.length} mutants written to ${file}\n`, 0);
  }
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => stop.abort(new Error(`stopped by ${signal}`)));
  const scratch = values.in === undefined ? checkOut(values.ref) : undefined;
  try {
    const root = resolve(values.in ?? scratch!);
    return await run(file, root, { out: values.out, byKit: values.by === "kit" }, stop.signal);
  } finally {
    if (scratch !== undefined) removeCheckout(scratch);
  }
}

async function run(
  file: string,
  root: string,
  { out, byKit }: { out: string | undefined; byKit: boolean },
  signal: AbortSignal,
): Promise<number> {
  const list = JSON.parse(readFileSync(file, "utf8"));
  const places = await placesOf(list, root, byKit ? engineFiles(root) : coreFiles(root));
  const tried = (place: PlacedMutant) =>
    byKit
      ? tryByKit(root, place, entriesOf(root, place.file), signal)
      : tryMutant(root, place, signal);
  const results: MutantResult[] =
    out !== undefined && existsSync(out) ? JSON.parse(readFileSync(out, "utf8")) : [];
  for (let index = results.length; index < list.length; index++) {
    const place = places[index];
    results.push(
      place === undefined ? { ...list[index], verdict: "gone", ms: 0 } : await tried(place),
    );
    if (out !== undefined) writeFileSync(out, asJson(results));
    process.stderr.write(`\r${index + 1} of ${list.length}`);
  }
  process.stderr.write("\n");
  const count = (verdict: string) => results.filter((one) => one.verdict === verdict).length;
  for (const { file: path, mutator, original, replacement } of results.filter(
    ({ verdict }) => verdict === "survived",
  ))
    say(`survived ${path} ${mutator}: ${short(original)} -> ${short(replacement)}\n`, 0);
  return say(
    `${count("killed")} killed, ${count("survived")} survived, ${count("gone")} gone\n`,
    0,
  );
}

function checkOut(ref: string): string {
  const folder = mkdtempSync(join(tmpdir(), "clew-mutants-"));
  execFileSync("git", ["worktree", "add", "--detach", "--quiet", folder, ref]);
  if (existsSync(".cache")) cpSync(".cache", join(folder, ".cache"), { recursive: true });
  execFileSync("pnpm", ["install", "--frozen-lockfile", "--prefer-offline", "--silent"], {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
  });
  return folder;
}

function removeCheckout(folder: string): void {
  execFileSync("git", ["worktree", "remove", "--force", folder]);
  rmSync(folder, { recursive: true, force: true });
}

const asJson = (value: unknown) => `${JSON.stringify(value, null, 1)}\n`;
const short = (code: string) => code.replace(/\s+/g, " ").slice(0, 60);

function say(text: string, code: number): number {
  (code === 0 ? process.stdout : process.stderr).write(text);
  return code;
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
