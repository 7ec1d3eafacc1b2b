// Prints the counts of vitest's JSON report, with what passed when it was tried again alone.
import { existsSync, readFileSync } from "node:fs";
import { relative } from "node:path";

/** More than this is no accident of a busy machine. */
const FILES_TRIED_AGAIN = 8;

const [file = ".cache/vitest.json", again = ".cache/vitest-again.json"] = process.argv
  .slice(2)
  .filter((arg) => !arg.startsWith("--"));

if (process.argv.includes("--failed-files")) {
  const failed = existsSync(file) ? failedFiles(read(file)) : [];
  if (failed.length <= FILES_TRIED_AGAIN) for (const path of failed) console.log(path);
  process.exit(0);
}
if (!existsSync(file)) {
  console.log("no test report was written: the run stopped before the tests");
  process.exit(1);
}
const first = read(file);
const second = existsSync(again) ? read(again) : { testResults: [] };
const triedAgain = new Map(second.testResults.map((suite) => [suite.name, suite]));
const late = [];
const suites = first.testResults.map((suite) => {
  const other = triedAgain.get(suite.name);
  if (suite.status !== "failed" || other === undefined) return suite;
  for (const test of failedTests(suite))
    if (other.assertionResults.some((same) => isSame(same, test) && same.status === "passed"))
      late.push(`${relative(process.cwd(), suite.name)}: ${test.fullName}`);
  return other;
});
const tests = suites.flatMap((suite) => suite.assertionResults);
const passed = tests.filter(({ status }) => status === "passed").length;
// A file that could not be read has no test that failed.
const failed =
  tests.filter(({ status }) => status === "failed").length +
  suites.filter((suite) => suite.status === "failed" && failedTests(suite).length === 0).length;
const skipped = tests.length - passed - tests.filter(({ status }) => status === "failed").length;
for (const name of late) console.log(`failed at first, passed alone with the same cases: ${name}`);
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
process.exit(passed === 0 || failed > 0 ? 1 : 0);

function read(path) {
  return JSON.parse(readFileSync(path, "utf8"));
}
function failedFiles({ testResults }) {
  return testResults.filter(({ status }) => status === "failed").map(({ name }) => name);
}
function failedTests(suite) {
  return suite.assertionResults.filter(({ status }) => status === "failed");
}
function isSame(one, other) {
  return one.fullName === other.fullName;
}
