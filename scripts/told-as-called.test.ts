import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { sourceFiles } from "./where.ts";

/** What is written around the output of commands, and why it tells nobody what to call. */
const OWN_WORDS: Readonly<Record<string, string>> = {
  "src/cli/init/init.ts": "asks, and ends the line of the answer",
  "src/cli/plugins/agree.ts": "ends the line of the answer",
  "src/main.ts": "runs before anything is loaded",
  "src/plugins/isolate/isolated-process.ts": "is the process of a plugin",
  "src/terminal/lost-reader.ts": "tells that the output goes nowhere",
  "src/terminal/output.ts": "is the output",
};
/** Who has the output before it is made to say commands as they were called. */
const HAVE_TERMINAL = ["src/cli/help.ts", "src/cli/process-shell.ts", "src/cli/run.ts"];

describe("hints of commands", () => {
  const files = sourceFiles()
    .map(({ path }) => path)
    .filter((path) => /^apps\/gateway\/src\/(?!testing\/)/.test(path))
    .filter((path) => !/\.test\.ts$|\/__fixtures__\//.test(path));
  const having = (pattern: RegExp) =>
    files
      .filter((path) => pattern.test(readFileSync(path, "utf8")))
      .map((path) => path.replace("apps/gateway/", ""))
      .sort();

  it("go through the output that says commands as the person called them", () => {
    const around =
      /process\.std(?:out|err)\.write\(|process\[stream\]|\bconsole\.(?:log|error|warn)\(/;
    expect(having(around)).toEqual(Object.keys(OWN_WORDS));
    expect(having(/import \{[^}]*\bterminal\b[^}]*\} from "[./]+terminal\/output\.ts"/)).toEqual(
      HAVE_TERMINAL,
    );
  });
});
