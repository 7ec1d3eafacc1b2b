// Prints the counts of vitest's JSON report and fails if it holds no test.
import { existsSync, readFileSync } from "node:fs";

const file = process.argv[2] ?? ".cache/vitest.json";
if (!existsSync(file)) {
  console.log("no test report was written: the run stopped before the tests");
  process.exit(1);
}
const {
  numPassedTests: passed,
  numFailedTests: failed,
  numPendingTests: pending,
  numTodoTests: todo,
  numFailedTestSuites: brokenFiles,
  testResults,
} = JSON.parse(readFileSync(file, "utf8"));
const emptyBroken = testResults.filter(
  (suite) => suite.status === "failed" && suite.assertionResults.length === 0,
).length;
const skipped = pending + todo;
console.log(
  `${passed} passed, ${failed + emptyBroken} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`,
);
process.exit(passed === 0 || failed > 0 || brokenFiles > 0 ? 1 : 0);
