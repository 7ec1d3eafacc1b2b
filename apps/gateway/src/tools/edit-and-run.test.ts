// A model that mends a program in a scratch folder, in twenty steps.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createOpenAIEmulator, type EmulatorAnswer } from "@clew/providers/testing";
import { expect, it, onTestFinished } from "vitest";
import { emulatedModel, startTestGateway } from "../testing/gateway.ts";
import { temporaryHome } from "../testing/home.ts";

const write = (path: string, content: string) => ({
  name: "write_file",
  arguments: { path, content },
});
const edit = (path: string, old_text: string, new_text: string) => ({
  name: "edit_file",
  arguments: { path, old_text, new_text },
});
const run = (command: string) => ({ name: "run_command", arguments: { command } });
const node = `${process.execPath} --test`;

const STEPS = [
  { name: "list_files", arguments: {} },
  { name: "read_file", arguments: { path: "README.md" } },
  write("sum.mjs", "export const sum = (numbers) => numbers.reduce((a, b) => a - b);\n"),
  write(
    "sum.test.mjs",
    'import test from "node:test";\nimport assert from "node:assert";\nimport { sum } from "./sum.mjs";\ntest("sums", () => assert.equal(sum([1, 2, 3]), 6));\n',
  ),
  run(node),
  edit("sum.mjs", "a - b", "a + b"),
  run(node),
  edit("sum.test.mjs", "6));", '6));\ntest("of nothing is 0", () => assert.equal(sum([]), 0));'),
  run(node),
  edit("sum.mjs", "a + b)", "a + b, 0)"),
  run(node),
  run("git init -q . && git add -A && git -c user.name=a -c user.email=a@b commit -qm first"),
  write("docs/use.md", "# Use\n"),
  edit("docs/use.md", "# Use\n", "# Use\n\n`sum([1, 2])` is 3.\n"),
  { name: "search_workspace", arguments: { query: "sum" } },
  edit("README.md", "nothing yet", "sums"),
  run("git status --short"),
  run("git add -A && git -c user.name=a -c user.email=a@b commit -qm second"),
  run("git log --oneline | wc -l"),
  { name: "list_files", arguments: { pattern: "**/*.md" } },
];

it("a model writes, runs, sees what fails, and mends it, each step allowed by a person", async () => {
  const answers = (_: unknown, index: number): EmulatorAnswer =>
    index < STEPS.length ? { toolCalls: [STEPS[index]!] } : { text: "It sums, and is committed." };
  const server = await createOpenAIEmulator({ answers });
  onTestFinished(() => server.close());
  const home = await temporaryHome();
  const workspace = join(home, "agents/main/workspace");
  mkdirSync(workspace, { recursive: true });
  writeFileSync(join(workspace, "README.md"), "nothing yet\n");
  const { gateway } = await startTestGateway(
    { ...emulatedModel(server.baseUrl), tools: { write: "ask", shell: "ask" } },
    home,
  );
  const asked: string[] = [];
  gateway.approvals.attach({
    canAnswer: true,
    asked({ id, name }) {
      asked.push(name);
      gateway.approvals.answer(id, name === "run_command" ? "once" : "session", "http");
    },
    over: () => {},
  });
  const { outcome, report } = await gateway.send({ key: "main", content: "Make it sum." });
  expect(outcome).toBe("completed");
  expect(report.toolCalls.map(({ name }) => name)).toEqual(STEPS.map(({ name }) => name));
  expect(report.toolCalls.filter(({ isError }) => isError)).toEqual([]);
  expect(asked.filter((name) => name === "write_file")).toHaveLength(1);
  expect(asked.filter((name) => name === "edit_file")).toHaveLength(1);
  expect(asked.filter((name) => name === "run_command")).toHaveLength(8);
  const { branch } = (await gateway.session("main"))!;
  const results = branch.flatMap((entry) =>
    entry.type === "message" && entry.message.role === "toolResult"
      ? entry.message.content.map((block) => (block.type === "text" ? block.text : ""))
      : [],
  );
  const ends = [4, 6, 8, 10].map((step) => /\[exit code \d+\]/.exec(results[step]!)?.[0]);
  expect(ends).toEqual(["[exit code 1]", "[exit code 0]", "[exit code 1]", "[exit code 0]"]);
  expect(results[18]).toMatch(/^\s*2\n/);
  expect(readFileSync(join(workspace, "README.md"), "utf8")).toBe("sums\n");
});
