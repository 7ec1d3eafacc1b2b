import { describe, expect, it } from "vitest";
import { terminal } from "../terminal/output.ts";
import type { Shell } from "../terminal/shell.ts";
import { asCalled, COMMANDS, outputAsCalled, ownCommand } from "./own-command.ts";
import { createProgram } from "./program.ts";

describe("the command people are told to call", () => {
  it.each([
    ["/home/ann/clew/apps/gateway/dist", "start", "npm run clew --"],
    ["/home/ann/clew/apps/gateway/dist", "clew", "npm run clew --"],
    ["/home/ann/clew/apps/gateway/dist", undefined, "clew"],
    ["/home/ann/clew/apps/gateway/dist", "test", "clew"],
    ["/home/ann/project/node_modules/@clew/gateway/dist", "start", "clew"],
    ["/home/ann/.npm/_npx/0d1f/node_modules/@clew/gateway/dist", "npx", "npx @clew/gateway"],
    ["C:\\Users\\ann\\node_modules\\@clew\\gateway\\dist", undefined, "clew"],
  ])("from %s, run by the script %s, is %s", (folder, script, command) => {
    expect(ownCommand(folder, { variable: () => script })).toBe(command);
  });

  it("stands in the hints of errors as the person called it", () => {
    const hint = 'no gateway runs; "clew start" starts one, and clew is "clew"';
    expect(asCalled(hint, "npm run clew --")).toBe(
      'no gateway runs; "npm run clew -- start" starts one, and clew is "clew"',
    );
    expect(asCalled(hint, "clew")).toBe(hint);
  });

  it("stands in hints however they are written, once", () => {
    const hint = "go on: clew chat --session a, or `clew sessions list`; see /opt/clew start";
    const called = asCalled(hint, "npx @clew/gateway");
    expect(called).toBe(
      "go on: npx @clew/gateway chat --session a, or `npx @clew/gateway sessions list`; see /opt/clew start",
    );
    expect(asCalled(called, "npx @clew/gateway")).toBe(called);
  });

  it("knows every command that there is", () => {
    const program = createProgram({ output: terminal } as Shell, () => {});
    const names = program
      .createHelp()
      .visibleCommands(program)
      .map((each) => each.name());
    expect(names.filter((name) => name !== "help").sort()).toEqual([...COMMANDS].sort());
  });

  it("stands in what a command says, but not in what others have said or in data", () => {
    const told: unknown[] = [];
    const take = (each: unknown) => void told.push(each);
    const output = { line: take, note: take, write: take, json: take };
    let showsStored = false;
    const called = outputAsCalled(output, "npx @clew/gateway", () => showsStored);
    called.line("run clew doctor");
    called.note("run clew doctor");
    called.json("run clew doctor");
    showsStored = true;
    called.line("run clew doctor");
    const mine = "run npx @clew/gateway doctor";
    expect(told).toEqual([mine, mine, "run clew doctor", "run clew doctor"]);
  });
});
