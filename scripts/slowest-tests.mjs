// Prints the ten slowest test files, and the sum of all, from vitest's JSON report.
import { existsSync, readFileSync } from "node:fs";
import { relative } from "node:path";

const file = process.argv[2] ?? ".cache/vitest.json";
if (!existsSync(file)) {
  console.error(`There is no test report at ${file}; "npm test" writes one.`);
  process.exit(1);
}
const files = JSON.parse(readFileSync(file, "utf8")).testResults.map((suite) => ({
  path: relative(process.cwd(), suite.name),
  tests: suite.assertionResults.length,
  ms: suite.endTime - suite.startTime,
}));
files.sort((a, b) => b.ms - a.ms);
const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`.padStart(8);
for (const { path, tests, ms } of files.slice(0, 10))
  console.log(`${seconds(ms)} ${String(tests).padStart(5)} tests  ${path}`);
const sum = (key) => files.reduce((total, one) => total + one[key], 0);
console.log(
  `${seconds(sum("ms"))} ${String(sum("tests")).padStart(5)} tests  in ${files.length} files`,
);
