// Writes the generated documentation, or with `--check` fails if it is out of date.
import { readFileSync, writeFileSync } from "node:fs";
import { generated } from "./generated.ts";

const check = process.argv.includes("--check");
const stale: string[] = [];
for (const { path, text } of generated()) {
  let current = "";
  try {
    current = readFileSync(path, "utf8");
  } catch {
    // Not written yet.
  }
  if (current === text) continue;
  if (check) stale.push(path);
  else {
    writeFileSync(path, text);
    console.log(`wrote ${path}`);
  }
}
if (stale.length > 0) {
  console.error(`out of date: ${stale.join(", ")}; run \`pnpm run docs\` and commit the result.`);
  process.exit(1);
}
