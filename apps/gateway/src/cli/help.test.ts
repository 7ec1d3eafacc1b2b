import { expect, it } from "vitest";
import { collectOutput } from "../testing/command.ts";
import { answerHelp, asksForHelp } from "./help.ts";

it("knows a question for help or the version by its words alone", () => {
  for (const line of ["--help", "-h", "help", "--version", "-V", "help chat", "sessions show -h"])
    expect(asksForHelp(line.split(" ")), line).toBe(true);
  for (const line of [
    "",
    "chat",
    "chat --session x --help",
    "--help chat",
    "chat help",
    "-h --json",
  ])
    expect(asksForHelp(line.split(" ")), line).toBe(false);
});

it("answers for our own commands, and leaves to others what a plugin may know", async () => {
  const asked = async (...argv: string[]) => {
    const output = collectOutput();
    return [await answerHelp(argv, output), output.out()];
  };
  expect(await asked("sessions", "show", "--help")).toEqual([
    0,
    expect.stringContaining("Usage: clew sessions show"),
  ]);
  expect(await asked("help", "chat")).toEqual([0, expect.stringContaining("Usage: clew chat")]);
  expect(await asked("--version")).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/)]);
  expect(await asked("tide", "--help")).toEqual([null, ""]);
  expect(await asked("chat", "hello")).toEqual([null, ""]);
});
