import { describe, expect, it } from "vitest";
import { assistant, toolCall, toolResult } from "../testing/messages.ts";
import { fileOperations, formatToolFailure, toolFailures } from "./tool-facts.ts";

describe("toolFailures", () => {
  it("lists results that are errors, one per call id, on one line of at most 240 characters", () => {
    const call = toolCall("bash", {}, "1");
    const failures = toolFailures([
      assistant([call]),
      toolResult(call, `line one\n${"x".repeat(500)}`, { isError: true }),
      toolResult(call, "again", { isError: true }),
      toolResult({ id: "2", name: "read" }, "fine"),
    ]);
    expect(failures).toHaveLength(1);
    expect(failures[0]!.text).toMatch(/^line one x+…$/);
    expect(failures[0]!.text).toHaveLength(240);
  });

  it("finds the name of a tool from its call when the result lacks it", () => {
    const call = toolCall("deploy", {}, "1");
    expect(
      toolFailures([assistant([call]), toolResult({ id: "1", name: "" }, "no", { isError: true })]),
    ).toMatchObject([{ toolName: "deploy" }]);
  });

  it("formats without facts and without output", () => {
    expect(formatToolFailure({ toolName: "t", toolCallId: "1", text: "" })).toBe(
      "- t: (no output)",
    );
    expect(formatToolFailure({ toolName: "t", toolCallId: "1", exitCode: 0, text: "x" })).toBe(
      "- t (exitCode=0): x",
    );
  });
});

describe("fileOperations", () => {
  it("separates files read from files changed and carries earlier ones on", () => {
    const calls = [
      toolCall("Read", { path: "b.ts" }),
      toolCall("read", { filePath: "a.ts" }),
      toolCall("mcp__disk__write", { file_path: "c.ts" }),
      toolCall("edit", { path: "b.ts" }),
      toolCall("read", { path: 7 }),
      toolCall("bash", { path: "d.ts" }),
    ];
    expect(
      fileOperations([assistant(calls)], { readFiles: ["z.ts", "c.ts"], modifiedFiles: ["y.ts"] }),
    ).toEqual({
      readFiles: ["a.ts", "z.ts"],
      modifiedFiles: ["b.ts", "c.ts", "y.ts"],
    });
  });
});
